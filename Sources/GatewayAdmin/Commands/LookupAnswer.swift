// SPDX-License-Identifier: Apache-2.0

package import Branding

/// What a call of a number would get right now, and why; the same decision a call gets, made for the operator.
package struct LookupAnswer: Hashable, Sendable {
    /// The number in E.164; nil when it is not certain which one is meant.
    package let number: E164Number?
    /// `matched` or the word of a `PassThroughReason`.
    package let decision: String
    /// Nil when no brand would be shown.
    package let brand: Brand?

    /// What a phone would get.
    package struct Brand: Hashable, Sendable {
        package let name: String
        package let brandID: String
        package let logoURL: String?
        /// The header lines, without line ends; From only where the name is the brand's, Call-Info where there is one.
        package let headers: [String]
    }

    /// The trunk a call would come by, as far as it bears on the answer.
    package struct Question: Sendable {
        /// As it would stand in the user part of the caller's URI.
        package var number: String
        package var normaliser: NumberNormaliser
        package var trunkTrusted: Bool
        package var verification: Verification
        package var policy: BrandingPolicy
        /// The host of the caller's URI, as the trunk would write it.
        package var host: String
        /// False where the gateway writes names only.
        package var writesCallInfo: Bool
        /// The carrier's name stays whatever the brand's is (`carrier_name: keep`).
        package var keepsCarrierName: Bool

        package init(
            number: String, normaliser: NumberNormaliser, trunkTrusted: Bool, verification: Verification,
            policy: BrandingPolicy, host: String, writesCallInfo: Bool, keepsCarrierName: Bool = false
        ) {
            self.number = number
            self.normaliser = normaliser
            self.trunkTrusted = trunkTrusted
            self.verification = verification
            self.policy = policy
            self.host = host
            self.writesCallInfo = writesCallInfo
            self.keepsCarrierName = keepsCarrierName
        }
    }

    /// Decides about an initial INVITE that asks for no privacy and brings no name.
    package init(_ question: Question, gates: BrandingGates, index: BrandIndex) {
        number = question.normaliser.normalise(question.number.utf8)
        let evidence = CallEvidence(
            number: number, trunkTrusted: question.trunkTrusted,
            // What an untrusted trunk says of its numbers is not read.
            verification: question.trunkTrusted ? question.verification : .none)
        switch decide(evidence, policy: question.policy, gates: gates, index: index) {
        case .passThrough(let reason):
            decision = reason.description
            brand = nil
        case .show(let entry):
            let shown = Brand(entry, of: index, number: number, question)
            // Where the carrier's name stays and there is neither logo nor reason, nothing is shown at all.
            brand = shown.headers.isEmpty ? nil : shown
            decision = shown.headers.isEmpty ? PassThroughReason.policy.description : "matched"
        }
    }
}

extension LookupAnswer.Brand {
    fileprivate init(
        _ entry: BrandEntry, of index: BrandIndex, number: E164Number?, _ question: LookupAnswer.Question
    ) {
        name = index.text(.name, entry)
        brandID = index.text(.brandID, entry)
        logoURL = index.logoURL(of: entry)
        let from = "From: \(index.text(.quotedName, entry)) <sip:\(number?.description ?? "")@\(question.host)>"
        var headers = question.keepsCarrierName ? [] : [from]
        let callInfo = question.writesCallInfo ? index.text(.callInfo, entry) : ""
        if !callInfo.isEmpty { headers.append("Call-Info: \(callInfo)") }
        self.headers = headers
    }
}
