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
