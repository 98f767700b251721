// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Primitives
import SIPCore
import Trust

/// Header fields with the verdict on the signatures of a call, for the PBX.
///
/// P-Attestation-Indicator and P-Origination-ID are those of ATIS-1000082. X-Herald-Trust is the gateway's own: that of a trunk
/// is removed whether a PBX asks for the field or not. Nothing is written in shadow.
enum VerdictHeaders {
    /// Writes the fields in front of From, if the PBX takes them and the verdict counts.
    ///
    /// - Parameter isNameVerified: whether each field that shows the caller's name has the signed one.
    static func write(_ context: borrowing InboundContext, isNameVerified: Bool, into splices: inout Splices) {
        guard context.called.pbx.takesVerdict, let signed = context.signed, signed.evidence.counts,
            let from = context.invite.first(.from)
        else { return }
        let evidence = signed.evidence
        // A trusted trunk's own fields stay where the verdict is the same.
        let isStated = context.trunk.isTrusted && context.invite.has(.attestation) && !signed.replacesTrunkClaim
        splices.insert(at: from.start) { out in
            if !isStated, signed.source == .ownSignature, let level = attestation(evidence.result) {
                out.append("P-Attestation-Indicator: ")
                out.append(level)
                out.append("\r\n")
                if let origid = evidence.origid {
                    out.append("P-Origination-ID: ")
                    out.append(contentsOf: origid.description.utf8)
                    out.append("\r\n")
                }
            }
            out.append("X-Herald-Trust: ")
            append(evidence, signed.verdict, to: &out)
            if let name = name(of: signed, isNameVerified) {
                out.append(";name=")
                out.append(name)
            }
            out.append("\r\n")
        }
    }

    private static func append(_ evidence: TrustEvidence, _ verdict: TrustVerdict, to out: inout [UInt8]) {
        switch evidence.result {
        case .none: out.append("none")
        case .failed: out.append("failed")
        case .passed, .passedA, .passedB, .passedC: out.append("passed")
        }
        if let level = attestation(evidence.result) {
            out.append(";attestation=")
            out.append(level)
        } else if let cause = evidence.causes.first(where: { $0 != .passed }) {
            out.append(";cause=")
            out.append(contentsOf: cause.name.utf8)
        }
        if evidence.hasPassed, let code = verdict.signer?.authority.codes.first, code.utf8.allSatisfy(isAlphanumeric) {
            out.append(";signer=")
            out.append(contentsOf: code.utf8)
        }
    }

    /// The state of the name that the call shows; nil for a token without one.
    ///
    /// The name of a token for another number is nobody's here.
    private static func name(of signed: SignedVerdict, _ isNameVerified: Bool) -> StaticString? {
        guard signed.evidence.name != .absent else { return nil }
        guard signed.isForShownNumber else { return "none" }
        return isNameVerified ? "verified" : "unverified"
    }

    private static func attestation(_ result: TrustEvidence.Result) -> StaticString? {
        switch result {
        case .passedA: "A"
        case .passedB: "B"
        case .passedC: "C"
        case .none, .passed, .failed: nil
        }
    }

    /// Provider codes are the certificate's text.
    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
