// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Trust

extension TracedSignature {
    /// The verdict in a few words, such as `passed(A) by 123A`, or `failed: called_mismatch` with both numbers.
    var step: DecisionSteps.Step {
        let result = DecisionSteps.Step.Part.text("signature \(TrustWords.result(evidence.result))")
        return .init("signature", [result] + signer + causes + numbers + remark)
    }

    private var signer: [DecisionSteps.Step.Part] {
        provider.map { [.text(" by "), SignatureSteps.isNumber($0) ? .number($0) : .text($0)] } ?? []
    }

    /// The causes of header fields that did not pass.
    private var causes: [DecisionSteps.Step.Part] {
        let names = evidence.causes.filter { $0 != .passed }.map(\.name).joined(separator: ", ")
        guard !names.isEmpty else { return [] }
        let isPassed = evidence.causes.contains(.passed)
        return [.text(isPassed ? ", beside \(names)" : ": \(names)")]
    }

    private var numbers: [DecisionSteps.Step.Part] { numberParts.isEmpty ? [] : [.text(", ")] + numberParts }

    /// The numbers of a token for another call, and the called number; the step `identity` has the caller.
    var numberParts: [DecisionSteps.Step.Part] {
        guard claimedCaller != nil || claimedCalled != nil else { return [] }
        let all = [("orig", claimedCaller?.text), ("dest", claimedCalled?.text), ("called", called?.description)]
        let known = all.compactMap { name, number in number.map { (name, $0) } }
        return known.enumerated().flatMap { position, known -> [DecisionSteps.Step.Part] in
            [.text(position == 0 ? "\(known.0) " : ", \(known.0) "), .number(known.1)]
        }
    }

    private var remark: [DecisionSteps.Step.Part] {
        var text = evidence.isRejected ? ", rejected" : evidence.counts ? "" : ", shadow"
        if evidence.contradictsTrunk, let claim = TrustWords.attestation(evidence.trunkClaim) {
            text += ", the trunk reports \(claim)"
        }
        return text.isEmpty ? [] : [.text(text)]
    }
}
