// SPDX-License-Identifier: Apache-2.0

/// The result of the signed header fields of one call.
public struct TrustVerdict: Sendable {
    /// The result for the caller's number.
    public enum Number: Equatable, Sendable {
        /// No evidence, or none that could be judged.
        case none
        /// A good signature, with its attestation; nil if it has none.
        case passed(Attestation?)
        /// Evidence against the call.
        case failed
    }

    /// The thing that ties the token to this call.
    public enum Binding: Equatable, Sendable {
        case nothing
        /// The called number is in `dest`.
        case calledNumber
        /// A chain of diversions leads to the called number (RFC 8946).
        case chain(diversions: Int)
    }

    /// A signed text.
    public enum SignedText: Equatable, Sendable {
        case absent
        case verified(String)
        case unverified(TrustCause)
    }

    /// A signed picture. Its bytes are compared elsewhere.
    public enum SignedIcon: Equatable, Sendable {
        case absent
        /// Verified once bytes with the digest are at hand; the digest is that of `rcdi`, such as `sha256-…`.
        case named(address: String, digest: String)
        /// A picture inside the token.
        case inline(String)
        case unverified(TrustCause)
    }

    /// One diversion of a proven chain.
    public struct Diversion: Sendable {
        /// The number that was called before.
        public let from: CanonicalNumber
        /// The party that diverted the call.
        public let signer: Signer
    }

    /// The numbers of a token that did not fit the call, for the operator.
    public struct Claimed: Equatable, Sendable {
        /// The number of `orig`; nil if it has none.
        public let caller: CanonicalNumber?
        /// The first number of `dest`; nil if it has none.
        public let called: CanonicalNumber?
    }

    /// The result for the number.
    public var number = Number.none
    /// The tie between token and call.
    public var binding = Binding.nothing
    /// The signer of the token that decided, nil if no token passed and none with a known signer failed.
    public var signer: Signer?
    /// The caller's number in the token that decided; nil if no token passed.
    public var caller: CanonicalNumber?
    /// The diversions of the chain that passed, the first one first.
    public var diversions: [Diversion] = []
    /// The numbers of the first token that was for another call.
    public var claimed: Claimed?
    /// The `origid` of the token that decided, as received (RFC 8588 §5). It is foreign text.
    public var origid: String?
    /// The signed name as received (RFC 9795 §5.1.1). It is foreign text, which may have to be cleaned.
    public var name = SignedText.absent
    /// The signed reason of the call (RFC 9795 §5.2).
    public var reason = SignedText.absent
    /// The signed picture (RFC 9795 §5.1.3).
    public var icon = SignedIcon.absent
    /// One cause for each header field, in order. Without a header field: `unsigned` or `bypass`.
    public var causes: [TrustCause] = []
    /// The places of the tokens that `causes` are about, in the message.
    public var tokens: [Range<Int>] = []
    /// Header fields beyond the budget, which were not read.
    public var unread = 0
    /// Remarks without effect on the number.
    public var marks = TrustCauses()
    /// Work for the service that keeps signers, at most one for each header field.
    public var requests: [SignerRequest] = []

    /// A verdict without evidence.
    public init() {}

    /// The verdict of a call that was not verified, such as `shed`.
    public init(_ cause: TrustCause) { causes = [cause] }
}

/// A signer that the snapshot lacks.
public enum SignerRequest: Equatable, Sendable {
    /// Fetch the certificate at an address.
    case fetch(address: String)
    /// Fetch it again: a signature did not fit the stored one, or the stored one is not in force.
    case renew(address: String)
    /// Check the chain of a token: base64 texts of DER, leaf first. Nothing is fetched.
    case check(chain: [String])
}

/// The verstat value of a verdict.
public enum EmittedVerstat: String, Sendable {
    case passed = "TN-Validation-Passed"
    case failed = "TN-Validation-Failed"
    case none = "No-TN-Validation"
}

extension TrustVerdict {
    /// The code that is reported for the call: that of the first header field with one.
    public func code(under regime: TrustRegime) -> UInt16? {
        for cause in causes {
            if let code = code(of: cause, under: regime) { return code }
        }
        return nil
    }

    /// The code that is reported for one header field with a cause.
    public func code(of cause: TrustCause, under regime: TrustRegime) -> UInt16? {
        // RFC 8224 §6.2.2: 436 only if no certificate can be had.
        if cause == .certificateUnreachable, causes.contains(where: { $0 != cause }) { return nil }
        return regime.code(for: cause)
    }

    /// The verstat that is written for the call.
    public func verstat(under regime: TrustRegime) -> EmittedVerstat {
        switch number {
        case .passed(.some): .passed
        case .failed: causes.contains(where: regime.verstatFailed.contains) ? .failed : .none
        case .passed(nil), .none: .none
        }
    }
}
