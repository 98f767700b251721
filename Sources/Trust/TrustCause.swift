// SPDX-License-Identifier: Apache-2.0

/// Why a signed header field counts, does not count, or counts against the call.
///
/// Calls are stored with raw values, so a value is never reused. Codes are those of RFC 8224 §6.2.2; RFC 8224 §6.2.1 has
/// the difference between evidence against a call and missing evidence.
public enum TrustCause: UInt8, Error, CaseIterable, Sendable {
    case unsigned = 1
    case unsupportedPPT, malformed, oversize, compactForm, infoMissing, headerIncomplete, infoMismatch, typ, alg
    case pptMismatch, parameters, badAddress, claims, stale, future, date, clockSuspect
    case callerMismatch, calledMismatch, toOnly, notANumber
    case signerNotYetKnown, certificateUnreachable, certificateMalformed, untrustedSigner, certificatePolicy
    case certificateExpired, revoked, crlStale, noAuthority, constraint
    /// The signature is wrong, and the certificate at its address has not been fetched again.
    case signerChanged
    case chainBroken, chainIncomplete, tooMany, shed, bypass
    case rcdMalformed, rcdName, rcdIcon, rcdAlone, rcdAttestation
    /// The digest of a text was made without its quotes.
    case rcdDigestBare
    case passed
    case badSignature
    /// One digest covers the whole `rcd`.
    case rcdDigestWhole
    /// The card of `jcl` was dropped.
    case rcdJCL
    /// The `origid` is no UUID.
    case origidForm
    /// The same token came with another Call-ID.
    case seenBefore
    /// A rule of the operator denies the signer.
    case denied

    // Other modules would call the synthesised operator through a witness table.
    @inline(__always)
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }
}

/// The effect of a cause on the number of a call.
public enum TrustEffect: Sendable {
    /// The signature is good and fits the call.
    case passes
    /// Evidence against the call.
    case fails
    /// A broken header field: evidence against the call, unless the trunk's policy softens it.
    case failsAsMalformed
    /// Missing evidence, or a remark on a call with another result.
    case none
}

extension TrustCause {
    /// The effect on the number of the call.
    public var effect: TrustEffect {
        switch self {
        case .passed: .passes
        case .malformed, .oversize, .compactForm, .infoMissing, .headerIncomplete, .infoMismatch, .typ, .alg,
            .pptMismatch, .parameters, .badAddress, .claims:
            .failsAsMalformed
        case .stale, .future, .date, .callerMismatch, .calledMismatch, .certificateMalformed, .untrustedSigner,
            .certificatePolicy, .certificateExpired, .revoked, .noAuthority, .constraint, .badSignature, .chainBroken:
            .fails
        default: .none
        }
    }

    /// The response code of RFC 8224 §6.2.2; nil where nothing is reported. `TrustRegime.code(for:)` is the one in force.
    public var code: UInt16? {
        switch self {
        case .stale, .future, .date: 403
        case .infoMissing, .headerIncomplete, .infoMismatch, .badAddress, .certificateUnreachable: 436
        case .typ, .alg, .certificateMalformed, .untrustedSigner, .certificatePolicy, .certificateExpired, .revoked,
            .noAuthority:
            437
        case .malformed, .oversize, .compactForm, .pptMismatch, .parameters, .claims, .callerMismatch, .calledMismatch,
            .constraint, .badSignature, .chainBroken:
            438
        default: nil
        }
    }

    /// The name in configuration, records, metrics and pages.
    public var name: String {
        switch self {
        case .unsigned: "unsigned"
        case .unsupportedPPT: "unsupported_ppt"
        case .malformed: "malformed"
        case .oversize: "oversize"
        case .compactForm: "compact_form"
        case .infoMissing: "info_missing"
        case .headerIncomplete: "header_incomplete"
        case .infoMismatch: "info_mismatch"
        case .typ: "typ"
        case .alg: "alg"
        case .pptMismatch: "ppt_mismatch"
        case .parameters: "parameters"
        case .badAddress: "bad_address"
        case .claims: "claims"
        case .stale: "stale"
        case .future: "future"
        case .date: "date"
        case .clockSuspect: "clock_suspect"
        case .callerMismatch: "caller_mismatch"
        case .calledMismatch: "called_mismatch"
        case .toOnly: "to_only"
        case .notANumber: "not_a_number"
        case .signerNotYetKnown: "signer_not_yet_known"
        case .certificateUnreachable: "certificate_unreachable"
        case .certificateMalformed: "certificate_malformed"
        case .untrustedSigner: "untrusted_signer"
        case .certificatePolicy: "certificate_policy"
        case .certificateExpired: "certificate_expired"
        case .revoked: "revoked"
        case .crlStale: "crl_stale"
        case .noAuthority: "no_authority"
        case .constraint: "constraint"
        case .signerChanged: "signer_changed"
        case .chainBroken: "chain_broken"
        case .chainIncomplete: "chain_incomplete"
        case .tooMany: "too_many"
        case .shed: "shed"
        case .bypass: "bypass"
        case .rcdMalformed: "rcd_malformed"
        case .rcdName: "rcd_name"
        case .rcdIcon: "rcd_icon"
        case .rcdAlone: "rcd_alone"
        case .rcdAttestation: "rcd_attestation"
        case .rcdDigestBare: "rcd_digest_bare"
        case .passed: "passed"
        case .badSignature: "bad_signature"
        case .rcdDigestWhole: "rcd_digest_whole"
        case .rcdJCL: "rcd_jcl"
        case .origidForm: "origid_form"
        case .seenBefore: "seen_before"
        case .denied: "denied"
        }
    }

    /// The cause of a name in a configuration file, nil for an unknown name.
    public init?(named name: String) {
        guard let cause = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = cause
    }
}

/// A set of causes in eight bytes.
public struct TrustCauses: Equatable, Sendable {
    private var bits: UInt64 = 0

    /// No cause.
    public init() {}

    /// The causes of a list.
    public init(_ causes: [TrustCause]) {
        for cause in causes { insert(cause) }
    }

    /// Adds a cause.
    public mutating func insert(_ cause: TrustCause) { bits |= 1 << UInt64(cause.rawValue) }

    /// True if the set has the cause.
    public func contains(_ cause: TrustCause) -> Bool { bits & (1 << UInt64(cause.rawValue)) != 0 }

    /// True if the set has no cause.
    public var isEmpty: Bool { bits == 0 }

    /// The causes in the order of their raw values.
    public var all: [TrustCause] { TrustCause.allCases.filter(contains) }

    /// Causes that ATIS-minded services show as failed: a certificate that cannot be validated, and a wrong signature.
    public static let atis = TrustCauses([
        .certificateMalformed, .untrustedSigner, .certificatePolicy, .certificateExpired, .revoked, .noAuthority,
        .badSignature,
    ])

    /// All causes that count against a call.
    public static let failures = TrustCauses(
        TrustCause.allCases.filter { $0.effect == .fails || $0.effect == .failsAsMalformed })
}
