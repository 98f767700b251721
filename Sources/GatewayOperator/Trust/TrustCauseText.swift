// SPDX-License-Identifier: Apache-2.0

import Trust

/// The meaning of each cause in one sentence, with the remedy where the operator has one.
enum TrustCauseText {
    /// For a check by hand.
    static func text(of cause: TrustCause) -> String { sentence(cause, TrustRemedyText.byHand(cause)) }

    /// For a call of the gateway.
    static func call(_ cause: TrustCause) -> String { sentence(cause, TrustRemedyText.ofCall(cause)) }

    private static func sentence(_ cause: TrustCause, _ remedy: String?) -> String {
        let meaning = formText(cause) ?? callText(cause) ?? signerText(cause) ?? nameText(cause)
        return remedy.map { "\(meaning); \($0)" } ?? meaning
    }

    private static func formText(_ cause: TrustCause) -> String? {
        switch cause {
        case .unsigned: "the call has no Identity"
        case .unsupportedPPT: "tokens of this type are not read"
        case .malformed: "not three parts of base64url with one JSON object each"
        case .oversize: "larger than any token of a call"
        case .compactForm: "the compact form has no claims of its own and is not allowed here"
        case .infoMissing: "the parameter info has no URI"
        case .headerIncomplete: "the token header lacks alg, typ, ppt or its certificate"
        case .infoMismatch: "info and x5u differ"
        case .typ: "typ is not passport"
        case .alg: "the algorithm is not ES256"
        case .pptMismatch: "the parameter ppt is missing or differs from the token"
        case .parameters: "the regime allows no further parameters"
        case .badAddress: "the regime does not allow the address of the certificate"
        case .claims: "a claim is missing or has a wrong type"
        default: nil
        }
    }

    private static func callText(_ cause: TrustCause) -> String? {
        switch cause {
        case .stale: "the token is too old"
        case .future: "the token lies in the future"
        case .date: "Date and the time of the token differ"
        case .clockSuspect: "the clock of this machine differs from those of most signers"
        case .callerMismatch: "orig is another number than the caller's"
        case .calledMismatch: "dest lacks the called number"
        case .toOnly: "dest has the number of To and not that of the Request-URI"
        case .notANumber: "caller, called or token has no telephone number"
        case .chainBroken: "a token of the diversions is wrong"
        case .chainIncomplete: "a token of the diversions is missing"
        case .tooMany: "more tokens than a call may have"
        case .shed: "not verified under overload"
        case .bypass: "unsigned by permission"
        case .seenBefore: "the same token came with another call"
        case .denied: "a rule of the operator denies the signer"
        default: nil
        }
    }

    private static func signerText(_ cause: TrustCause) -> String? {
        switch cause {
        case .signerNotYetKnown: "no certificate of the signer is stored"
        case .certificateUnreachable: "the certificate could not be fetched"
        case .certificateMalformed: "a certificate of the chain cannot be used"
        case .untrustedSigner: "the chain reaches no anchor of the regime"
        case .certificatePolicy: "a key or an algorithm of the chain is not allowed"
        case .certificateExpired: "the certificate was not in force"
        case .revoked: "a certificate of the chain is revoked"
        case .crlStale: "the revocation list is too old"
        case .noAuthority: "the certificate does not cover the number, or lacks the TNAuthList that the regime wants"
        case .constraint: "a claim breaks a constraint of the certificate"
        case .signerChanged: "the signature is not by the stored certificate, which may have been replaced"
        case .badSignature: "the signature is wrong"
        default: nil
        }
    }

    private static func nameText(_ cause: TrustCause) -> String {
        switch cause {
        case .rcdMalformed: "the signed name has a wrong form"
        case .rcdName: "the digest of the name is wrong"
        case .rcdIcon: "the digest of the picture is wrong, or its bytes are unknown"
        case .rcdAlone: "the name is by a signer that may not name callers"
        case .rcdAttestation: "the attestation is too low for a signed name"
        case .rcdDigestBare: "the digest was made without quotes"
        case .rcdDigestWhole: "one digest covers the whole rcd"
        case .rcdJCL: "the card was dropped"
        case .origidForm: "origid is no UUID"
        default: "the signature is good and fits the call"
        }
    }
}
