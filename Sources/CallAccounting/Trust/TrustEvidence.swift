// SPDX-License-Identifier: Apache-2.0

public import Branding
public import Trust

/// The verdict on the signed header fields of a call, as 40 bytes: in the ring with the INVITE, in the ledger with the call.
///
/// It has no text of the caller's. Stored, so no field moves and no value changes its meaning; new fields take free bits.
public struct TrustEvidence: Hashable, Sendable {
    /// The result for the caller's number.
    public enum Result: UInt8, Hashable, Sendable, CaseIterable {
        /// No evidence, or none that could be judged.
        case none
        case passedA
        case passedB
        case passedC
        /// A good signature without attestation.
        case passed
        /// Evidence against the call.
        case failed

        /// The result of a verdict.
        public init(_ number: TrustVerdict.Number) {
            switch number {
            case .none: self = .none
            case .failed: self = .failed
            case .passed(.a): self = .passedA
            case .passed(.b): self = .passedB
            case .passed(.c): self = .passedC
            case .passed(nil): self = .passed
            }
        }

        /// The right to the number that the result proves.
        public var verification: Verification {
            switch self {
            case .none, .passed: .none
            case .passedA: .passedA
            case .passedB: .passedB
            case .passedC: .passedC
            case .failed: .failed
            }
        }
    }

    /// The state of a signed name.
    public enum Name: UInt8, Hashable, Sendable, CaseIterable { case absent, verified, unverified }

    /// The row of the signer in the store; 0 for none.
    public var signer: Int64 = 0
    /// Raw values of the causes of up to eight header fields, the first one in the lowest byte; 0 where there is none.
    public var packedCauses: UInt64 = 0
    /// The UUID of the originating provider; nil without one (RFC 8588 §5).
    public var origid: CallIdentifier?
    /// The response code of RFC 8224 §6.2.2; 0 for none.
    public var code: UInt16 = 0
    /// Results and marks by bit.
    public private(set) var facts: UInt32

    /// Evidence without any finding.
    public init() { facts = 1 }

    /// The evidence of stored values.
    ///
    /// - Returns: nil for facts that this type has not written.
    public init?(facts: UInt32, causes: UInt64, signer: Int64 = 0, origid: CallIdentifier? = nil, code: UInt16 = 0) {
        guard facts & 1 == 1 else { return nil }
        (self.facts, packedCauses, self.signer, self.origid, self.code) = (facts, causes, signer, origid, code)
    }

    /// The evidence of a verdict.
    ///
    /// - Parameters:
    ///   - counts: whether the verdict takes part in the decision; false in shadow.
    ///   - claim: the verification that the trunk states.
    ///   - code: the response code under the trunk's regime.
    public init(_ verdict: TrustVerdict, counts: Bool, trunkClaim claim: Verification, code: UInt16?) {
        self.init()
        result = Result(verdict.number)
        self.counts = counts
        trunkClaim = claim
        switch verdict.binding {
        case .nothing: break
        case .calledNumber: isBound = true
        case .chain(let count): (isBound, diversions) = (true, count)
        }
        switch verdict.name {
        case .absent: break
        case .verified: name = .verified
        case .unverified: name = .unverified
        }
        for (mark, bit) in Self.markBits where verdict.marks.contains(mark) { set(bit, 1, 1) }
        set(14, 1, verdict.unread > 0 ? 1 : 0)
        for (position, cause) in verdict.causes.prefix(8).enumerated() {
            packedCauses |= UInt64(cause.rawValue) << UInt64(8 * position)
        }
        signer = verdict.signer?.row ?? 0
        origid = verdict.origid.flatMap { CallIdentifier($0.lowercased()) }
        self.code = code ?? 0
    }

    /// The result for the caller's number.
    public var result: Result {
        get { Result(rawValue: UInt8(field(1, 3))) ?? .none }
        set { set(1, 3, newValue.rawValue) }
    }
    /// True for a good signature that fits the call.
    public var hasPassed: Bool { result != .none && result != .failed }
    /// True if the verdict took part in the decision; false in shadow.
    public var counts: Bool {
        get { field(4, 1) == 1 }
        set { set(4, 1, newValue ? 1 : 0) }
    }
    /// The verification that the trunk stated; none from an untrusted trunk.
    public var trunkClaim: Verification {
        get { Verification(rawValue: UInt8(field(5, 3))) ?? .none }
        set { set(5, 3, newValue.rawValue) }
    }
    /// True if the token is bound to this call, by the called number or by a chain of diversions.
    public var isBound: Bool {
        get { field(8, 1) == 1 }
        set { set(8, 1, newValue ? 1 : 0) }
    }
    /// The diversions of the proven chain, 0 to 5.
    public var diversions: Int {
        get { Int(field(9, 3)) }
        set { set(9, 3, UInt8(clamping: min(newValue, 7))) }
    }
    /// The state of a signed name.
    public var name: Name {
        get { Name(rawValue: UInt8(field(12, 2))) ?? .absent }
        set { set(12, 2, newValue.rawValue) }
    }
    /// True if the call was rejected for the verdict.
    public var isRejected: Bool {
        get { field(25, 1) == 1 }
        set { set(25, 1, newValue ? 1 : 0) }
    }
    /// True if the trunk gets the code in a Reason, which ends no call.
    public var isReported: Bool {
        get { field(26, 1) == 1 }
        set { set(26, 1, newValue ? 1 : 0) }
    }
    /// The place that the name in the INVITE comes from; none also for a call of an earlier version.
    public var nameOrigin: NameOrigin {
        get { NameOrigin(rawValue: UInt8(field(27, 2))) ?? .none }
        set { set(27, 2, newValue.rawValue) }
    }
    /// True if the verdict gives the call another decision or another name than it has without one, or would in shadow.
    ///
    /// False also for a call of an earlier version.
    public var changesCall: Bool {
        get { field(29, 1) == 1 }
        set { set(29, 1, newValue ? 1 : 0) }
    }
    /// True if there were more header fields than are read.
    public var hasUnread: Bool { field(14, 1) == 1 }
    /// The remarks without effect on the number.
    public var marks: [TrustCause] { Self.markBits.filter { field($0.bit, 1) == 1 }.map(\.mark) }
    /// The causes of the header fields in their order; those of a newer version are left out.
    public var causes: [TrustCause] {
        (0..<8).compactMap { TrustCause(rawValue: UInt8(truncatingIfNeeded: packedCauses >> UInt64(8 * $0))) }
    }
    /// True if the trunk stated a result and the verdict is another one.
    public var contradictsTrunk: Bool {
        trunkClaim != .none && result.verification != .none && trunkClaim != result.verification
    }

    /// Takes back the remark about the picture: its bytes are known.
    public mutating func iconWasCompared() { set(22, 1, 0) }

    /// Stored by position.
    private static let markBits: [(mark: TrustCause, bit: UInt32)] = [
        (.origidForm, 15), (.seenBefore, 16), (.rcdDigestBare, 17), (.rcdDigestWhole, 18), (.rcdJCL, 19),
        (.rcdMalformed, 20), (.rcdName, 21), (.rcdIcon, 22), (.rcdAlone, 23), (.rcdAttestation, 24),
    ]

    private func field(_ low: UInt32, _ width: UInt32) -> UInt32 { facts >> low & (1 << width - 1) }

    private mutating func set(_ low: UInt32, _ width: UInt32, _ value: UInt8) {
        facts = facts & ~((1 << width - 1) << low) | UInt32(value) << low
    }
}
