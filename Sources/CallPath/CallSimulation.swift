// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting
public import SIPCore

/// Walks one INVITE through the call path without a socket, and reports what each stop found.
///
/// The message takes the same walk as in the gateway: admission, validation, identity, decision, decoration, forwarding. The
/// transaction is thrown away; the ring of `GatewayShared` receives the updates, and no recorder reads it.
public struct CallSimulation {
    /// The sender as the topology knows it.
    public enum Sender: Sendable {
        case trunk(TrunkPeer)
        case pbx(name: String)
        case unknown
    }

    /// The identity that the INVITE shows of its caller.
    public struct Caller: Hashable, Sendable {
        /// The header that names the caller; nil for none.
        public let header: String?
        /// That header field as received; nil for a withheld caller.
        public let received: String?
        /// Nil when withheld or not certain.
        public let number: E164Number?
        public let isWithheld: Bool
        /// The attestation of the number, if the trunk is trusted.
        public let verification: Verification
    }

    /// The result of the walk.
    public struct Result: Sendable {
        /// The message that goes to the target; nil for a rejected call.
        public let sent: [UInt8]?
        /// The address of the target.
        public let target: PeerAddress?
        /// Herald's own final response; nil for a forwarded call.
        public let response: String?
        /// Why the call has no brand; nil for a branded call and a rejected one.
        public let passThrough: PassThroughReason?
        public let isBranded: Bool
        /// The decision with its evidence, as a trace has it; nil within a dialog, and for a call that is
        /// rejected before the decision.
        public let decided: TracedDecision?
    }

    private let settings: GatewaySettings
    private let flow: Flow
    private let bytes: [UInt8]
    private let message: SIPMessage

    /// - Parameters:
    ///   - bytes: the INVITE with CRLF line ends.
    ///   - flow: the way it would arrive by.
    /// - Throws: `SIPIndexError` for bytes that are no SIP message.
    public init(_ bytes: [UInt8], by flow: Flow, _ settings: GatewaySettings) throws {
        OSIPGrammar.start()
        (self.bytes, self.flow, self.settings) = (bytes, flow, settings)
        message = try SIPMessage.index(bytes.span, limits: settings.limits)
    }

    /// The peer that sends by this flow.
    public var sender: Sender {
        switch settings.topology.peer(of: flow) {
        case .trunk(let trunk): .trunk(trunk)
        case .pbx(let pbx): .pbx(name: pbx.name)
        case nil: .unknown
        }
    }

    /// True for an INVITE with a To tag.
    public var isInDialog: Bool { message.isInDialog }

    /// The route of the called number; nil where none matches.
    public func route(on trunk: TrunkPeer) -> CallRoute? {
        CalledRoute(of: message, on: trunk, settings.topology.routes).route
    }

    /// The caller, as a trunk's INVITE shows it.
    public func caller(on trunk: TrunkPeer) -> Caller {
        let identity = CallerIdentity(of: message, trunk: trunk)
        let field = identity.header.flatMap { message.first($0.name) }
        return Caller(
            header: identity.header?.title, received: field.map { String(decoding: message[$0.value], as: UTF8.self) },
            number: identity.number, isWithheld: identity.isWithheld, verification: identity.verification)
    }

    /// Handles the INVITE on brands and gates as they are now.
    ///
    /// - Parameters:
    ///   - updates: a ring that nobody reads.
    ///   - trust: has the signers whose tokens count.
    ///   - now: the time of the call, by which tokens are fresh or not.
    public func run(
        _ snapshot: BrandingSnapshot, updates: UpdateRing, trust: GatewayTrust = GatewayTrust(), at now: Moment
    ) -> Result {
        let counters = GatewayCounters()
        let shared = GatewayShared(
            settings: CurrentSettings(settings), branding: CurrentBranding(snapshot), counters: counters,
            updates: updates, probes: TargetProber(seed: 1), calls: CallsInProgress(), trust: trust)
        shared.trace.start(capacity: Self.mostRecords)
        let element = GatewayElement(shards: GatewayShards(shared: shared, count: 1, now: now))
        element.receive(bytes.span, by: flow, at: now)
        let messages = element.outgoing
        let sent = messages.first { $0.bytes.starts(with: Array("INVITE ".utf8)) }
        let response = messages.lazy.compactMap { Self.finalStatus(of: $0.bytes) }.first
        let reason = PassThroughReason.allCases.first { counters.count($0) > 0 }
        return Result(
            sent: sent?.bytes, target: sent?.destination, response: sent == nil ? response : nil,
            passThrough: sent == nil ? nil : reason, isBranded: counters.count(.callsBranded) > 0,
            decided: Self.decision(in: shared.trace))
    }

    /// Messages and decisions of one INVITE that a trace keeps: the INVITE, its copy, responses.
    private static let mostRecords = 16

    /// The first decision that a trace has.
    private static func decision(in trace: TraceTap) -> TracedDecision? {
        var record = TraceRecord()
        while trace.take(into: &record) {
            if record.kind == .decided { return record.decision }
        }
        return nil
    }

    /// Status code and phrase of a final response; nil for any other message.
    private static func finalStatus(of bytes: [UInt8]) -> String? {
        let line = bytes.prefix { $0 != 13 }
        guard line.starts(with: Array("SIP/2.0 ".utf8)) else { return nil }
        let status = String(decoding: line.dropFirst(8), as: UTF8.self)
        return status.hasPrefix("1") ? nil : status
    }
}

extension IdentityHeader {
    fileprivate var title: String {
        switch self {
        case .pAssertedIdentity: "P-Asserted-Identity"
        case .remotePartyID: "Remote-Party-ID"
        case .from: "From"
        }
    }
}
