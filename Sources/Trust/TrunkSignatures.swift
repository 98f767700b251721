// SPDX-License-Identifier: Apache-2.0

/// The treatment of signed header fields on the calls of a trunk.
public struct TrunkSignatures: Equatable, Sendable {
    /// The effect of verdicts.
    public enum Mode: String, CaseIterable, Sendable {
        /// Calls are verified and reported; nothing changes for them.
        case shadow
        /// The verdict takes part in the decision.
        case decide
    }

    /// The header field with the number that `orig` must be.
    public enum SignedCaller: String, CaseIterable, Sendable {
        /// P-Asserted-Identity if the trunk is trusted and has one, else From.
        case asserted = "pai"
        case from
        /// One of the two.
        case either
    }

    /// The place of the called number.
    public enum CalledPlace: String, CaseIterable, Sendable {
        case requestURI = "ruri"
        case to
        /// P-Called-Party-ID (RFC 7315 §4.2), for trunks that write an account into the Request-URI.
        case calledPartyID = "p_called_party_id"
    }

    /// The precedence of Herald's verdict and the verstat of a trusted trunk.
    public enum Source: String, CaseIterable, Sendable {
        /// Herald's verdict if it passed or failed, else the trunk's.
        case ownFirst = "own_first"
        /// The trunk's word if it passed or failed, else Herald's.
        case trunkFirst = "trunk_first"
        /// The worse one of the two.
        case worst
        /// Herald's verdict alone.
        case ownOnly = "own_only"
    }

    /// The treatment of a call whose verdict is `failed`.
    public enum OnFailed: String, CaseIterable, Sendable {
        /// It goes on without a brand.
        case noBrand = "no_brand"
        /// The verdict counts as none.
        case pass
        /// It is rejected with the code of its cause, as some carriers must by law.
        case reject
    }

    public var mode = Mode.shadow
    /// The regimes and the rules of tokens.
    public var policy: TrunkTrustPolicy
    public var caller = SignedCaller.asserted
    public var called = CalledPlace.requestURI
    public var source = Source.ownFirst
    public var onFailed = OnFailed.noBrand
    /// The source of names; nil for that of the first regime.
    public var names: TrustRegime.Names?

    /// The rules of a trunk that sets none of its own.
    public init(policy: TrunkTrustPolicy) { self.policy = policy }
}
