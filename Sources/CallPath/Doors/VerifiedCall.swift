// SPDX-License-Identifier: Apache-2.0

public import Trust

/// The verdict on a signed call for the client of a door.
public struct VerifiedCall: Sendable {
    /// One token of the call, and what became of it.
    public struct Token: Sendable {
        /// The token as received: foreign text.
        public let text: [UInt8]
        /// `passed`, or why it does not count.
        public let cause: TrustCause
        /// The code of the cause; nil where the regime reports none.
        public let code: UInt16?
        /// The verstat of this token alone.
        public let verstat: EmittedVerstat
    }

    /// The result for the caller's number.
    public let number: TrustVerdict.Number
    /// The verstat by the causes that the regime shows as failed.
    public let verstat: EmittedVerstat
    /// The tokens that were read, in order.
    public let tokens: [Token]
    /// The cause that decided, and the code that the regime reports for it, if any.
    public let cause: TrustCause
    public let code: UInt16?

    /// A verdict under the first regime of a trunk.
    init(_ verdict: TrustVerdict, of message: [UInt8], under regime: TrustRegime) {
        (number, verstat) = (verdict.number, verdict.verstat(under: regime))
        tokens = zip(verdict.tokens, verdict.causes).map { place, cause in
            Token(
                text: Array(message[place]), cause: cause, code: verdict.code(of: cause, under: regime),
                verstat: cause == .passed ? .passed : regime.verstatFailed.contains(cause) ? .failed : .none)
        }
        cause = Self.deciding(verdict, verstat, regime)
        code = verdict.code(of: cause, under: regime)
    }

    /// The first cause of the result: one that is shown as failed, else one that counts against the call, else one with a code.
    private static func deciding(
        _ verdict: TrustVerdict, _ verstat: EmittedVerstat, _ regime: TrustRegime
    ) -> TrustCause {
        let causes = verdict.causes
        if case .passed = verdict.number { return .passed }
        if verstat == .failed, let cause = causes.first(where: regime.verstatFailed.contains) { return cause }
        if verdict.number == .failed,
            let cause = causes.first(where: { $0.effect == .fails || $0.effect == .failsAsMalformed })
        {
            return cause
        }
        return causes.first { verdict.code(of: $0, under: regime) != nil } ?? causes.first ?? .unsigned
    }
}
