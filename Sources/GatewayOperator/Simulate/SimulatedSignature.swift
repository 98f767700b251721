// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import CallPath
import Trust

/// The verdict on the signed header fields of a simulated call.
struct SimulatedSignature {
    private let decided: TracedDecision?

    /// - Parameter decided: the decision of the walk; nil within a dialog, and for a call that another rule rejects.
    init(_ decided: TracedDecision?) { self.decided = decided }

    /// Steps with their findings, and the numbers of a token for another call.
    var steps: [(String, String)] {
        guard let decided, let signature = decided.signature else {
            return [("signature", "not verified: no Identity, or a kind of call that is never verified")]
        }
        var steps = SignatureSteps(signature, decided.evidence).all
        if !signature.numberParts.isEmpty { steps.append(.init("numbers", signature.numberParts)) }
        return steps.map { step in (step.name, step.finding { $0 }) }
    }

    /// The same for `--json`; nil for a call that was not verified.
    var json: JSONValue? {
        guard let signature = decided?.signature else { return nil }
        let evidence = signature.evidence
        let members: [String: JSONValue?] = [
            "result": .string(TrustWords.result(evidence.result)), "counts": .bool(evidence.counts),
            "causes": .array(evidence.causes.map { .string($0.name) }),
            "marks": .array(evidence.marks.map { .string($0.name) }), "provider": JSONValue(signature.provider),
            "signer": JSONValue(signature.subject), "origid": JSONValue(evidence.origid?.description),
            "trunk": JSONValue(TrustWords.attestation(evidence.trunkClaim)),
            "orig": JSONValue(signature.claimedCaller?.text), "dest": JSONValue(signature.claimedCalled?.text),
            "code": evidence.code == 0 ? nil : .int(Int(evidence.code)),
        ]
        return .object(members.compactMapValues { $0 })
    }
}
