// SPDX-License-Identifier: Apache-2.0

import CallPath
import Trust

/// Why a token does not count, for the client of the door (RFC 8224 §6.2.2).
///
/// Each has a code: Oracle's SBC takes a missing one for 403. It has no number and no claim of a token.
struct VerificationReason: Hashable, Sendable {
    let code: Int
    /// The phrase of the code.
    let text: String
    /// The cause by its name, and a sentence.
    let description: String

    /// - Parameter code: that of the trunk's regime; nil for the one of the cause.
    init(_ cause: TrustCause, code: UInt16?) {
        let code = code ?? Self.code(of: cause)
        self.code = Int(code)
        text = "\(IdentityPhrase.text(of: code))"
        description = "\(cause.name): \(Self.sentence(of: cause))"
    }

    /// The codes of causes that a regime reports to nobody, and of all others.
    private static func code(of cause: TrustCause) -> UInt16 {
        switch cause {
        case .unsigned: 428
        case .clockSuspect: 403
        case .signerNotYetKnown, .certificateUnreachable, .signerChanged, .crlStale, .shed: 436
        case .denied: 437
        default: cause.code ?? 438
        }
    }

    private static func sentence(of cause: TrustCause) -> String {
        switch cause {
        case .unsigned, .bypass: "the call has no token"
        case .unsupportedPPT: "the type of the token is not verified here"
        case .malformed: "the header field or its token cannot be read"
        case .oversize: "the token is too large"
        case .compactForm: "the token has no claims of its own"
        case .infoMissing: "the header field has no address of a certificate"
        case .headerIncomplete: "a member of the token's header is missing"
        case .infoMismatch: "the address of the certificate differs between header field and token"
        case .typ: "the token is no passport"
        case .alg: "the algorithm is not ES256"
        case .pptMismatch: "the type of the token differs between header field and token"
        case .parameters: "the header field has a parameter that the regime forbids"
        case .badAddress: "the address of the certificate is against the rules of the regime"
        case .claims: "a claim of the token is missing, or of a wrong type"
        case .stale: "the token is too old"
        case .future: "the token is of a time to come"
        case .date: "the time of the request differs from that of the token"
        case .clockSuspect: "the clock of this machine differs from that of most signers"
        case .callerMismatch: "the token is for another caller"
        case .calledMismatch: "the token is for another called number"
        case .toOnly: "the token is for the number of To alone"
        case .notANumber: "caller or called party is no certain telephone number"
        case .signerNotYetKnown: "the certificate of the signer is not stored here yet"
        case .certificateUnreachable: "the certificate of the signer could not be fetched"
        case .certificateMalformed: "the certificate of the signer cannot be read"
        case .untrustedSigner: "no authority of the regime vouches for the signer"
        case .certificatePolicy: "the key of the signer is against the rules of the regime"
        case .certificateExpired: "the certificate of the signer is not in force"
        case .revoked: "the certificate of the signer is revoked"
        case .crlStale: "the revocation list of the signer is too old"
        case .noAuthority: "the signer has no authority for the number"
        case .constraint: "a claim is against the constraints of the certificate"
        case .signerChanged: "the signature does not fit the stored certificate, which is fetched again"
        case .badSignature: "the signature is wrong"
        case .chainBroken: "the chain of diversions is broken"
        case .chainIncomplete: "the chain of diversions lacks a link"
        case .tooMany: "the call has too many tokens"
        case .shed: "too many calls at once"
        case .denied: "the operator denies the signer"
        case .rcdAlone, .rcdAttestation, .rcdMalformed, .rcdName, .rcdIcon, .rcdDigestBare, .rcdDigestWhole, .rcdJCL:
            "the signed name does not count"
        case .passed: "the token is good, and attests no right to the number"
        case .origidForm: "the identifier of the origin is no UUID"
        case .seenBefore: "the token came with another call before"
        }
    }
}
