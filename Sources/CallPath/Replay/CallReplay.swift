// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting
import Trust

/// Decides recorded calls again under other settings, with the `decide` and the peers of calls.
///
/// Inputs that no record has leave a call undecided. Immutable and thread-safe; sends, stores and counts nothing.
public struct CallReplay: Sendable {
    /// The keys of a trunk that differ between the settings of the calls and the other settings.
    public struct Differences: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Keys by which caller or attestation are read from the INVITE, other than `trusted`.
        public static let callerKeys = Differences(rawValue: 1)
        /// Keys of the verification of signed calls.
        public static let signatures = Differences(rawValue: 2)
        /// The key `carrier_name`.
        public static let carrierName = Differences(rawValue: 4)
        public static let all: Differences = [.callerKeys, .signatures, .carrierName]
    }

    /// The decision on a call, or the reason why there is none.
    public enum Result: Hashable, Sendable {
        /// Nil for a brand.
        case decided(PassThroughReason?)
        /// `routes.default: reject` has no PBX for the call.
        case rejected
        case undecided(UndecidedCause)
    }

    /// A call under the other settings.
    public struct Replayed: Sendable {
        /// With the brand that the call had, or had not, at its time.
        public var byRules: Result
        /// With the brands of the index.
        public var now: Result
        /// The brand of the index that the caller has; nil for none.
        public var entry: BrandEntry?
        /// Whether the brand's name would be written.
        public var isNamed = false
        /// The findings under the other settings, as far as `MissingBrand` reads them; nil for the recorded decision.
        public var evidence: DecisionEvidence?

        init(_ result: Result) { (byRules, now) = (result, result) }
    }

    private let settings: GatewaySettings
    private let trunks: [String: (trunk: TrunkPeer, differences: Differences)]
    private let readsCalledOtherwise: Bool
    /// The brand of a call whose brand is not in the index.
    private let formerBrand: BrandEntry?

    /// - Parameters:
    ///   - settings: those under which the calls are decided.
    ///   - differences: of the trunks of both settings, by name. A trunk that is missing here may differ in all.
    ///   - readsCalledOtherwise: whether routes read the called number from another header field.
    public init(
        _ settings: GatewaySettings, differences: [String: Differences], readsCalledOtherwise: Bool = false
    ) {
        self.settings = settings
        self.readsCalledOtherwise = readsCalledOtherwise
        trunks = Dictionary(
            settings.topology.trunks.filter { !$0.isTest }.map { ($0.name, ($0, differences[$0.name] ?? .all)) },
            uniquingKeysWith: { first, _ in first })
        formerBrand = Self.anyBrand
    }

    /// The only brand of an index of its own.
    private static var anyBrand: BrandEntry? {
        guard let number = E164Number(digits: 12_025_550_100) else { return nil }
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 0, expectedCount: 1)
        builder.add(
            BrandRecord(number: number, name: "Brand", brandID: "", logoURL: nil, callReason: nil, updatedAt: ""))
        return builder.finish().entry(for: number)
    }

    /// The names of the customers whose brands calls may have.
    public var customers: [String] { settings.topology.routes.customerNames }

    /// The customer of the called number's route; nil for none.
    public func customer(of call: RecordedCall) -> String? {
        settings.topology.routes.route(of: call.called)?.customer?.name
    }

    /// Decides a call.
    ///
    /// - Parameter index: the brands of the call's customer.
    public func decide(_ call: RecordedCall, in index: BrandIndex) -> Replayed {
        guard let evidence = call.evidence, call.reason != .error else { return Replayed(.undecided(.noEvidence)) }
        guard !evidence.isByDoor else { return Replayed(.undecided(.byDoor)) }
        guard let (trunk, differences) = call.trunk.flatMap({ trunks[$0] }) else {
            return Replayed(.undecided(.noTrunk))
        }
        let routes = settings.topology.routes
        if routes.areUsed {
            if call.rangSeveral { return Replayed(.undecided(.severalParties)) }
            if readsCalledOtherwise { return Replayed(.undecided(.calledField)) }
        }
        let route = routes.route(of: call.called)
        if route == nil, routes.unmatched == .reject, call.reason != .emergency { return Replayed(.rejected) }
        let walk = ReplayedWalk(
            call: call, evidence: evidence, trunk: trunk, route: route, differences: differences, settings: settings)
        return walk.decide(in: index, formerBrand: formerBrand)
    }
}
