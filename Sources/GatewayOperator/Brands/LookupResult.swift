// SPDX-License-Identifier: Apache-2.0

import Branding

/// The branding decision for a call of a number at this moment, for the operator.
///
/// It is the same decision as for a call.
struct LookupResult: Hashable, Sendable {
    /// The number in E.164; nil if it is ambiguous.
    let number: E164Number?
    /// `matched` or the text of a `PassThroughReason`.
    let decision: String
    /// Nil if no brand would be shown.
    let brand: Brand?

    /// The name and headers for the phone.
    struct Brand: Hashable, Sendable {
        let name: String
        let brandID: String
        let logoURL: String?
        /// The address of the public card; nil without cards.
        let cardURL: String?
        /// The header lines without line ends: From if the name is the brand's, Call-Info with logo and reason, and with the card.
        let headers: [String]
    }

    /// The properties of the call's trunk that influence the decision.
    struct Question: Sendable {
        /// The number in the user part of the caller's URI.
        var number: String { didSet { read = normaliser.normalise(number.utf8) } }
        /// The number as the trunk's rules read it; nil if it is ambiguous.
        var read: E164Number?
        var normaliser: NumberNormaliser
        var trunkTrusted: Bool
        var verification: Verification
        var policy: BrandingPolicy
        /// The host of the caller's URI, as the trunk would write it.
        var host: String
        /// False if the gateway writes names only.
        var writesCallInfo: Bool
        /// True if Call-Info has the address of the public card (`card_link: call_info`).
        var writesCardLink = false
        /// True if the carrier's name stays (`carrier_name: keep`).
        var keepsCarrierName: Bool

        init(
            number: String, normaliser: NumberNormaliser, trunkTrusted: Bool, verification: Verification,
            policy: BrandingPolicy, host: String, writesCallInfo: Bool, keepsCarrierName: Bool = false
        ) {
            self.number = number
            read = normaliser.normalise(number.utf8)
            self.normaliser = normaliser
            self.trunkTrusted = trunkTrusted
            self.verification = verification
            self.policy = policy
            self.host = host
            self.writesCallInfo = writesCallInfo
            self.keepsCarrierName = keepsCarrierName
        }
    }

    /// Decides on an initial INVITE without privacy and without a name.
    ///
    /// - Parameter cards: the public cards of the account's brands; nil without cards.
    init(_ question: Question, gates: BrandingGates, index: BrandIndex, cards: CardLinks? = nil) {
        number = question.read
        let evidence = CallEvidence(
            number: number, trunkTrusted: question.trunkTrusted,
            // The verification of an untrusted trunk is ignored.
            verification: question.trunkTrusted ? question.verification : .none)
        switch decide(evidence, policy: question.policy, gates: gates, index: index) {
        case .passThrough(let reason):
            decision = reason.description
            brand = nil
        case .show(let entry):
            let shown = Brand(entry, of: index, cards, number: number, question)
            // If the carrier's name stays and there is neither logo nor reason, nothing is shown.
            brand = shown.headers.isEmpty ? nil : shown
            decision = shown.headers.isEmpty ? PassThroughReason.policy.description : "matched"
        }
    }
}

extension LookupResult.Brand {
    fileprivate init(
        _ entry: BrandEntry, of index: BrandIndex, _ cards: CardLinks?, number: E164Number?,
        _ question: LookupResult.Question
    ) {
        name = index.text(.name, entry)
        brandID = index.text(.brandID, entry)
        logoURL = index.logoURL(of: entry)
        cardURL = index.cardURL(of: entry, at: cards)
        let from = "From: \(index.text(.quotedName, entry)) <sip:\(number?.description ?? "")@\(question.host)>"
        var headers = question.keepsCarrierName ? [] : [from]
        let callInfo = question.writesCallInfo ? index.text(.callInfo, entry) : ""
        if !callInfo.isEmpty { headers.append("Call-Info: \(callInfo)") }
        // A card goes beside a name, a logo or a reason.
        if question.writesCardLink, !headers.isEmpty, let cardURL {
            headers.append("Call-Info: <\(cardURL)>;purpose=info")
        }
        self.headers = headers
    }
}
