// SPDX-License-Identifier: Apache-2.0

public import Branding

/// The findings behind a branding decision, as 32 bits: in the ring with the INVITE, in the ledger with the call.
///
/// Without numbers, names and other text, so that an INVITE costs no byte more in the ring. Stored, so no field moves and no
/// value changes its meaning; new fields take free bits.
public struct DecisionEvidence: RawRepresentable, Hashable, Sendable, Codable {
    /// The header field that names the caller.
    public enum Header: UInt8, Hashable, Sendable, CaseIterable {
        /// None does, or the number is withheld.
        case none
        case pAssertedIdentity
        case remotePartyID
        case from
        /// No header field: a PBX reported the call by a door after its end.
        case report
    }

    /// The result of the lookup.
    public enum Lookup: UInt8, Hashable, Sendable, CaseIterable {
        /// An earlier step stopped the call.
        case notMade
        case noBrand
        case brandFound
    }

    /// The fate of the brand's logo or reason in Call-Info.
    public enum Part: UInt8, Hashable, Sendable, CaseIterable {
        /// No Call-Info was to be written, or the call is of a version that did not record it.
        case unknown
        /// The brand has none that phones can use.
        case absent
        case written
        /// It does not fit into the target's datagrams.
        case leftOut

        /// - Parameters:
        ///   - isPresent: the brand has one in the index.
        ///   - fits: the size of the target's datagrams allows it.
        public init(isPresent: Bool, fits: Bool) { self = !isPresent ? .absent : fits ? .written : .leftOut }
    }

    /// The parts of a brand that fit into the target's datagrams; `logo` and `callReason` show which of them it has.
    public enum Parts: UInt8, Hashable, Sendable, CaseIterable {
        case none
        case name
        case reasonAndName
        case logoReasonAndName
    }

    /// Zero for calls without evidence.
    public private(set) var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Evidence without any finding.
    public init() { rawValue = 1 }

    /// False for the value of an update that carries no evidence.
    public var isPresent: Bool { rawValue & 1 == 1 }

    public var header: Header {
        get { Header(rawValue: UInt8(field(1, 3))) ?? .none }
        set { set(1, 3, newValue.rawValue) }
    }
    /// The worst claim about the number; none from an untrusted trunk.
    public var verification: Verification {
        get { Verification(rawValue: UInt8(field(4, 3))) ?? .none }
        set { set(4, 3, newValue.rawValue) }
    }
    /// The part of the INVITE with that claim.
    public var source: AttestationSource {
        get { AttestationSource(rawValue: UInt8(field(7, 4))) ?? .none }
        set { set(7, 4, newValue.rawValue) }
    }
    /// The policy of the route, or of the trunk where the route has none; nil if none is stored.
    public var policy: BrandingPolicy? {
        get {
            let index = Int(field(11, 2)) - 1
            return Self.policies.indices.contains(index) ? Self.policies[index] : nil
        }
        set {
            let index = newValue.flatMap { Self.policies.firstIndex(of: $0) }
            set(11, 2, index.map { UInt8($0 + 1) } ?? 0)
        }
    }
    /// True if Call-Info has the address of the brand's public card.
    ///
    /// Versions without such addresses read the policy of the call as unknown.
    public var hasCardLink: Bool {
        get { field(13, 1) == 1 }
        set { set(13, 1, newValue ? 1 : 0) }
    }
    public var lookup: Lookup {
        get { Lookup(rawValue: UInt8(field(14, 2))) ?? .notMade }
        set { set(14, 2, newValue.rawValue) }
    }
    public var parts: Parts {
        get { Parts(rawValue: UInt8(field(16, 2))) ?? .none }
        set { set(16, 2, newValue.rawValue) }
    }
    /// True if the trunk's claims are trusted.
    public var isTrusted: Bool {
        get { field(18, 1) == 1 }
        set { set(18, 1, newValue ? 1 : 0) }
    }
    /// True if the caller withholds the number.
    public var isWithheld: Bool {
        get { field(19, 1) == 1 }
        set { set(19, 1, newValue ? 1 : 0) }
    }
    /// True if the carrier states that it checked nothing, such as `No-TN-Validation`.
    public var isUnchecked: Bool {
        get { field(20, 1) == 1 }
        set { set(20, 1, newValue ? 1 : 0) }
    }
    /// True if `branding.enabled` was false.
    public var isSwitchedOff: Bool {
        get { field(21, 1) == 1 }
        set { set(21, 1, newValue ? 1 : 0) }
    }
    /// True if the brand's name replaced the carrier's.
    public var isNamed: Bool {
        get { field(22, 1) == 1 }
        set { set(22, 1, newValue ? 1 : 0) }
    }
    /// True if Call-Info may carry logo and reason.
    public var writesCallInfo: Bool {
        get { field(23, 1) == 1 }
        set { set(23, 1, newValue ? 1 : 0) }
    }
    /// True if the route of the called number has `brands: false`.
    public var isRouteUnbranded: Bool {
        get { field(24, 1) == 1 }
        set { set(24, 1, newValue ? 1 : 0) }
    }
    /// True if the trunk or the route was in shadow: the brand was decided on, and not written.
    public var isInShadow: Bool {
        get { field(29, 1) == 1 }
        set { set(29, 1, newValue ? 1 : 0) }
    }
    /// True if the trunk has `brands: false`.
    public var isTrunkUnbranded: Bool {
        get { field(30, 1) == 1 }
        set { set(30, 1, newValue ? 1 : 0) }
    }
    /// True if the values are those of a signature alone, and no brand of the directory; of a call in shadow those not written.
    ///
    /// Versions without shadow record it by the reason alone.
    public var isNamedBySigner: Bool {
        get { field(31, 1) == 1 }
        set { set(31, 1, newValue ? 1 : 0) }
    }

    /// True for a call that a PBX reported by a door after its end; `isNamed` is then its word that a phone showed the name.
    public var isByDoor: Bool { header == .report }

    /// The brand's logo in Call-Info.
    public var logo: Part {
        get { Part(rawValue: UInt8(field(25, 2))) ?? .unknown }
        set { set(25, 2, newValue.rawValue) }
    }
    /// The brand's reason in Call-Info.
    public var callReason: Part {
        get { Part(rawValue: UInt8(field(27, 2))) ?? .unknown }
        set { set(27, 2, newValue.rawValue) }
    }

    /// Stored by position.
    private static let policies: [BrandingPolicy] = [.standard, .strict, .permissive]

    private func field(_ low: UInt32, _ width: UInt32) -> UInt32 { rawValue >> low & (1 << width - 1) }

    private mutating func set(_ low: UInt32, _ width: UInt32, _ value: UInt8) {
        rawValue = rawValue & ~((1 << width - 1) << low) | UInt32(value) << low
    }
}
