// SPDX-License-Identifier: Apache-2.0

import Trust

/// The remedy of each cause; nil where the operator of this gateway has none.
enum TrustRemedyText {
    private static let importChain = "import its chain with herald trust import"

    /// For a check by hand.
    static func byHand(_ cause: TrustCause) -> String? {
        switch cause {
        case .stale, .future: "for a recorded call give its time with --at"
        case .signerNotYetKnown: importChain
        case .crlStale: "import a new one"
        default: nil
        }
    }

    /// For a call of the gateway. The signer of a call that did not pass is not proven, so no command has its name.
    static func ofCall(_ cause: TrustCause) -> String? {
        switch cause {
        case .malformed, .oversize, .compactForm, .infoMissing, .headerIncomplete, .infoMismatch, .typ, .alg,
            .pptMismatch, .claims:
            "a device on the way may have changed the field, so ask the carrier"
        case .parameters: "parameters of the regime allows them"
        case .badAddress: "x5u_ports, x5u_http and x5u_private of the regime have the rules"
        case .stale, .future, .date, .clockSuspect: "compare the clock of this machine with a time server"
        case .callerMismatch: "see signed_caller and region of the trunk"
        case .calledMismatch: "see called_number of the trunk; a forwarded call needs a div token"
        case .toOnly: "retargeted of the trunk decides about such calls"
        case .chainBroken, .chainIncomplete: "ask the carrier that forwards the call"
        case .signerNotYetKnown, .certificateUnreachable: importChain
        case .certificateExpired, .signerChanged: "import its present chain with herald trust import"
        case .crlStale: "import a new one with herald trust import"
        case .certificateMalformed, .untrustedSigner, .certificatePolicy, .revoked, .noAuthority, .constraint:
            "herald trust list has the signers, and herald trust show the reason"
        case .rcdAttestation: "rcd.needs of the regime has the least one"
        case .denied: "trust.signer has the rule"
        case .rcdAlone: "rcd.third_party of the regime lists those that may"
        default: nil
        }
    }
}
