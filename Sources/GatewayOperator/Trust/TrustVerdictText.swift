// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Trust

/// The steps of the verification of one header field, in their order.
enum TrustStep: Int, CaseIterable, Comparable {
    case form, header, address, claims, time, numbers, signer, validity, authority, constraints, signature, result

    /// The step at which a cause ends the verification.
    init(_ cause: TrustCause) {
        self =
            switch cause {
            case .unsigned, .unsupportedPPT, .malformed, .oversize, .compactForm, .shed, .bypass: .form
            case .infoMissing, .headerIncomplete, .infoMismatch, .typ, .alg, .pptMismatch, .parameters: .header
            case .badAddress: .address
            case .claims: .claims
            case .stale, .future, .date, .clockSuspect: .time
            case .callerMismatch, .calledMismatch, .toOnly, .notANumber, .chainBroken, .chainIncomplete: .numbers
            case .signerNotYetKnown, .certificateUnreachable, .certificateMalformed, .untrustedSigner,
                .certificatePolicy, .revoked, .crlStale:
                .signer
            case .certificateExpired: .validity
            case .noAuthority: .authority
            case .constraint, .denied: .constraints
            case .badSignature, .signerChanged, .tooMany, .seenBefore: .signature
            case .passed, .rcdMalformed, .rcdName, .rcdIcon, .rcdAlone, .rcdAttestation, .rcdDigestBare,
                .rcdDigestWhole, .rcdJCL, .origidForm:
                .result
            }
    }

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// The name of the step.
    var title: String {
        switch self {
        case .form: "form"
        case .header: "token header"
        case .address: "address"
        case .claims: "claims"
        case .time: "time"
        case .numbers: "numbers"
        case .signer: "signer"
        case .validity: "validity"
        case .authority: "authority"
        case .constraints: "constraints"
        case .signature: "signature"
        case .result: "result"
        }
    }
}

/// The parts of a verdict as text.
struct TrustVerdictText {
    private let verdict: TrustVerdict

    init(_ verdict: TrustVerdict) { self.verdict = verdict }

    /// `none`, `failed`, or `passed` with the attestation.
    var number: String { TrustWords.result(TrustEvidence.Result(verdict.number)) }

    /// The tie between token and call.
    var binding: String {
        switch verdict.binding {
        case .nothing: TrustWords.binding(isBound: false, diversions: 0)
        case .calledNumber: TrustWords.binding(isBound: true, diversions: 0)
        case .chain(let count): TrustWords.binding(isBound: true, diversions: count)
        }
    }

    /// The signed name, quoted, or the cause for which it does not count.
    var name: String { Self.text(verdict.name) }

    /// The signed reason of the call, in the same way.
    var reason: String { Self.text(verdict.reason) }

    /// The signed picture.
    var icon: String {
        switch verdict.icon {
        case .absent: "absent"
        case .named(let address, let digest): "\(address) with \(digest), not yet compared"
        case .inline: "inside the token"
        case .unverified(let cause): "not verified: \(cause.name)"
        }
    }

    private static func text(_ value: TrustVerdict.SignedText) -> String {
        switch value {
        case .absent: "absent"
        case .verified(let text): "\"\(text)\" verified"
        case .unverified(let cause): "not verified: \(cause.name)"
        }
    }

    /// Names and values below the result for the number.
    func lines(under regime: TrustRegime) -> [String] {
        var lines = ["bound to    \(binding)"]
        if let signer = verdict.signer { lines.append("signer      \(signer.subject)") }
        if let origid = verdict.origid { lines.append("origid      \(origid)") }
        if verdict.name != .absent { lines.append("name        \(name)") }
        if verdict.reason != .absent { lines.append("reason      \(reason)") }
        if verdict.icon != .absent { lines.append("icon        \(icon)") }
        if !verdict.marks.isEmpty {
            lines.append("marks       \(verdict.marks.all.map(\.name).joined(separator: ", "))")
        }
        lines.append("code        \(verdict.code(under: regime).map { "\($0)" } ?? "none") under \(regime.name)")
        lines.append("verstat     \(verdict.verstat(under: regime).rawValue)")
        return lines
    }
}
