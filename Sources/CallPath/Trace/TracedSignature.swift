// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting
public import Trust

/// The verdict on the signed header fields of a traced call, with the numbers of a token that was for another call.
///
/// Of a withheld caller it has no number: neither that of the token nor that of a signer who signs for numbers. It has no
/// `origid` either, which may be the same for all calls of one customer (RFC 8588 §5).
public struct TracedSignature: Hashable, Sendable {
    /// The verdict without texts and numbers.
    public private(set) var evidence: TrustEvidence
    /// The signer's provider code, else its first number; nil for no known signer.
    public private(set) var provider: String?
    /// The subject of the signer's certificate: foreign text.
    public private(set) var subject: String?
    /// The number of `orig`, of a token that was for another call.
    public private(set) var claimedCaller: CanonicalNumber?
    /// The first number of `dest`, of that token.
    public private(set) var claimedCalled: CanonicalNumber?
    /// The called number of the call, beside a claimed one.
    public private(set) var called: E164Number?

    /// - Parameters:
    ///   - called: the called number of the call; nil when unclear.
    ///   - isWithheld: whether the caller withholds the number.
    public init(_ verdict: TrustVerdict, _ evidence: TrustEvidence, called: E164Number?, isWithheld: Bool) {
        self.evidence = evidence
        if isWithheld { self.evidence.origid = nil }
        if let signer = verdict.signer, !isWithheld || !signer.authority.codes.isEmpty {
            if evidence.hasPassed { provider = signer.provider }
            subject = signer.subject.isEmpty ? nil : signer.subject
        }
        guard let claimed = verdict.claimed, !isWithheld else { return }
        (claimedCaller, claimedCalled, self.called) = (claimed.caller, claimed.called, called)
    }
}
