// SPDX-License-Identifier: Apache-2.0

/// The rules of a country or of a private network, as values of a file.
///
/// No code asks for the name of a regime. Paths and addresses are as written in the file; Trust reads none of them. The
/// initial values are those of a key that a file leaves out.
public struct TrustRegime: Equatable, Sendable {
    /// The form of a revocation list: one of its issuer's certificates, or one for all with the issuer in each entry.
    public enum RevocationForm: String, CaseIterable, Sendable { case direct, indirect }

    /// A revocation list past its end: signers count for seven more days, or are not judged from then on.
    public enum StaleRevocation: String, CaseIterable, Sendable { case accept, asUnsigned = "as_unsigned" }

    /// The keys that a chain may have: P-256 alone, or RSA of 2048 bits and more above the leaf too.
    public enum Keys: String, CaseIterable, Sendable { case p256, p256RSA = "p256_rsa" }

    /// Parameters of the header field beyond info, alg and ppt: allowed, or not.
    public enum Parameters: String, CaseIterable, Sendable { case lenient, strict }

    /// The called number that `dest` must have.
    public enum Called: String, CaseIterable, Sendable {
        case requestURI = "request_uri"
        case requestURIOrTo = "request_uri_or_to"
    }

    /// The protocol of the Reason values: STIR (RFC 9410), SIP, or no report.
    public enum Reason: String, CaseIterable, Sendable { case stir, sip, off }

    /// The responses with a report: the next provisional above 100 or the final one, or the 200 alone.
    public enum ReasonPlace: String, CaseIterable, Sendable {
        case next
        case ok = "200"
    }

    /// A call without Identity and with P-Identity-Bypass: unsigned, or unsigned by permission.
    public enum Bypass: String, CaseIterable, Sendable { case off, pass }

    /// A `jcl` with the scheme `cid`: no claim counts, or the card alone is lost.
    public enum CardByContent: String, CaseIterable, Sendable { case refuse, drop }

    /// The name that is shown where the directory and the signature both have one.
    public enum Names: String, CaseIterable, Sendable {
        case directoryFirst = "directory_first"
        case rcdFirst = "rcd_first"
        case mustAgree = "must_agree"
        case rcdOnly = "rcd_only"
        case directoryOnly = "directory_only"
    }

    /// The name of the regime, for the operator alone.
    public var name: String
    /// The place among the regimes of the process. `Signer.standings` has the same order.
    public var position: Int

    /// Whether calls are verified at all.
    public var verify = true
    /// Files of trust anchors and of lists of authorities.
    public var anchors: [String] = []
    /// The address of a list of authorities; nil for files alone.
    public var listAddress: String?
    /// The file with the value of Authorization for the host of `listAddress`.
    public var listAuthorization: String?
    /// The file of the root above the signer of a list of authorities.
    public var listRoot: String?
    /// Files of revocation lists.
    public var revocationLists: [String] = []
    /// Addresses of revocation lists.
    public var revocationAddresses: [String] = []
    /// The file of the certificate that signs an indirect revocation list.
    public var revocationSigner: String?
    /// The form of the revocation lists.
    public var revocationForm = RevocationForm.direct
    /// The effect of a revocation list past its end.
    public var staleRevocation = StaleRevocation.accept
    /// The keys that a chain may have.
    public var keys = Keys.p256
    /// The TNAuthList that a leaf must have.
    public var authority = AuthorityRule.oneCode
    /// Whether delegate certificates may sign (RFC 9060).
    public var delegates = false
    /// Whether certificates of unknown signers are fetched; nil takes the setting of the process.
    public var fetch: Bool?
    /// The addresses that a certificate may come from.
    public var addresses = AddressRules()
    /// Whether a token may bring its chain. Otherwise `x5c` counts as missing.
    public var allowsX5C = true
    /// Whether further parameters of the header field are allowed.
    public var parameters = Parameters.lenient
    /// The called number that `dest` must have.
    public var called = Called.requestURI
    /// Seconds that a token may be old.
    public var maxAge: Int64 = 60
    /// Seconds that a token may lie in the future.
    public var maxAhead: Int64 = 60
    /// Seconds that an inner token of a chain may be old (RFC 8946 §4.2).
    public var innerAge: Int64 = 10_800
    /// Whether a Date that is 60 s off counts against the call.
    public var checksDate = false
    /// Whether a missing header field is reported. It never ends a call.
    public var required = false
    /// The protocol of reports to the trunk.
    public var reason = Reason.off
    /// The response that has the report.
    public var reasonPlace = ReasonPlace.next
    /// Codes that replace those of the causes; 0 for no code.
    public var codes: [TrustCause: UInt16] = [:]
    /// Causes that are shown as failed.
    public var verstatFailed = TrustCauses.atis
    /// The most diversions of a chain, 1 to 5.
    public var diversions = 5
    /// The meaning of P-Identity-Bypass.
    public var bypass = Bypass.off
    /// The rules for signed names.
    public var rcd = RichCallRules()
    /// The name that is shown.
    public var names = Names.directoryFirst
    /// Country codes, by which a wrong regime of a trunk is found.
    public var countries: [Int] = []

    /// A regime with the value of a missing key for each key.
    public init(name: String, position: Int) {
        self.name = name
        self.position = position
    }

    /// The code that a cause has in a report, nil for a cause without one.
    public func code(for cause: TrustCause) -> UInt16? {
        if let own = codes[cause] { return own == 0 || (cause == .unsigned && !required) ? nil : own }
        return cause == .unsigned && required ? 428 : cause.code
    }
}

/// The TNAuthList that a leaf must have (RFC 8226 §9).
public enum AuthorityRule: String, CaseIterable, Sendable {
    /// Exactly one provider code and nothing else.
    case oneCode = "spc"
    /// At least one entry of any kind.
    case any
}

/// The addresses that a certificate may come from.
public struct AddressRules: Equatable, Sendable {
    /// The ports, or nil for any.
    public var ports: [UInt16]? = [443, 8443]
    /// Whether `http` is allowed beside `https`.
    public var allowsHTTP = false
    /// Whether an address of a private network is allowed, literal or by its name.
    public var allowsPrivate = false

    /// The rules of missing keys.
    public init() {}
}

/// The rules for signed names (RFC 9795).
public struct RichCallRules: Equatable, Sendable {
    /// The least attestation by which a name counts as verified.
    public var needs = Attestation.a
    /// The effect of a `jcl` with the scheme `cid`.
    public var cardByContent = TrustRegime.CardByContent.refuse
    /// Provider codes whose tokens count beside a token of another provider (RFC 9795 §10).
    public var thirdParty: [String] = []

    /// The rules of missing keys.
    public init() {}
}

/// The attestation of a signed call (RFC 8588 §4).
public enum Attestation: UInt8, Comparable, CaseIterable, Sendable {
    case a = 1
    case b, c

    /// True if the first one attests less.
    public static func < (one: Self, other: Self) -> Bool { one.rawValue > other.rawValue }
}

/// The rules of one trunk for signed header fields.
public struct TrunkTrustPolicy: Equatable, Sendable {
    /// A `dest` that has To and not the Request-URI.
    public enum Retargeted: String, CaseIterable, Sendable { case asUnsigned = "as_unsigned", accept }
    /// A header field that breaks the rules of its form.
    public enum Malformed: String, CaseIterable, Sendable { case failed, none }
    /// A token that came with another Call-ID: a mark, or no evidence.
    public enum Replay: String, CaseIterable, Sendable { case note, asUnsigned = "as_unsigned" }

    /// The regimes, the first of which has the rules of header fields and numbers.
    ///
    /// Addresses and chains in tokens are those that any of them allows. The signer is judged by the first one with an
    /// anchor of its chain. Without a regime nothing is verified.
    public var regimes: [TrustRegime]
    /// The set of regimes that `regimes` are part of; see `TrustSnapshot.regimeSet`.
    public var regimeSet: UInt64
    /// The effect of a `dest` that has To alone.
    public var retargeted = Retargeted.asUnsigned
    /// The effect of a header field that breaks the rules of its form.
    public var malformed = Malformed.failed
    /// The effect of a token that came with another Call-ID.
    public var replay = Replay.note
    /// The addresses from which certificates of unknown signers are fetched for this trunk, by the regimes that fetch. Empty
    /// where nothing is fetched.
    public var fetchRules: [AddressRules] = []
    /// Whether certificates of unknown signers are fetched for this trunk.
    public var fetches: Bool { !fetchRules.isEmpty }
    /// Provider codes in folded form whose tokens count as none.
    public var denied: Set<String> = []
    /// Whether the compact form of a PASSporT without ppt counts (RFC 8224 §4.1).
    public var allowsCompactForm = false

    /// The default policy for some regimes.
    public init(regimes: [TrustRegime], regimeSet: UInt64) {
        self.regimes = regimes
        self.regimeSet = regimeSet
    }
}
