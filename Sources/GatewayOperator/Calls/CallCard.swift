// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// A call as the phone shows it, by the parts of the brand that were sent.
struct CallCard: Hashable, Sendable {
    /// The place of the card: the phone, or an INVITE that no phone showed.
    let title: String
    /// The first line: a name, or the number of a call without one.
    let name: StoryText
    /// The number below a name; nil where it is the first line.
    let number: StoryText?
    let callReason: String?
    /// The name of the gateway's own copy of the logo that was sent; nil for none.
    let copy: String?
    /// The state of the logo; nil for a call without a brand.
    let logo: String?
    /// The address of the brand's public card in Call-Info; nil where none was sent.
    let cardLink: String?
    /// The limits of the card's truth; nil for none.
    let remark: String?

    /// Nil for a call from the PBX.
    ///
    /// - Parameter brand: the brand as it is now; nil where it has gone or is another one.
    init?(_ story: CallStory, _ brand: PresentBrand?) {
        guard story.record.direction == .inbound else { return nil }
        let isInShadow = story.unsent != nil
        title =
            isInShadow
            ? "Not shown (brands: shadow)"
            : story.hasReachedPhone ? "On the phone" : "In the INVITE; no phone showed it"
        guard let sent = story.sent ?? story.unsent else {
            (name, number) = (story.caller, nil)
            (callReason, copy, logo, cardLink) = (nil, nil, nil, nil)
            remark = "As the carrier sent it: Herald added nothing. The ledger keeps no name of such a call."
            return
        }
        let carrierName = story.record.carrierName.map { StoryText(foreign: $0) }
        name = sent.name ?? carrierName ?? "the carrier's name"
        number = story.record.caller.map { StoryText(number: $0.description) }
        let (sentLogo, sentReason) = (sent.logo == .written, sent.callReason == .written)
        callReason = sentReason ? brand?.callReason ?? "…" : nil
        copy = sentLogo ? brand?.copy : nil
        logo =
            isInShadow && sentLogo && brand?.logoURL == nil
            ? "one that the ledger does not keep" : Self.state(of: sent, brand)
        cardLink = sent.hasCardLink ? brand?.cardURL ?? "sent, with a URL that the ledger does not keep" : nil
        let values = sentLogo || sentReason ? Self.remark(sent, brand) : nil
        remark = isInShadow ? "The INVITE went on as the carrier sent it. No phone showed this card." : values
    }

    private static func remark(_ sent: SentBrand, _ brand: PresentBrand?) -> String {
        if sent.isSigned { return "The ledger keeps that parts of the signature were written, and not their values." }
        return brand == nil
            ? "The brand is another one now or was removed. The ledger keeps which parts were sent, and not their values."
            : "Logo and reason are those of the brand now. The ledger keeps only that they were sent."
    }

    private static func state(of sent: SentBrand, _ brand: PresentBrand?) -> String {
        switch sent.logo {
        case .written: brand?.logoURL ?? "sent, with a URL that the ledger does not keep"
        case .leftOut: "left out: it did not fit into max_datagram of the PBX"
        case .absent: "none: \(sent.isSigned ? "the signature" : "the brand") has no logo that phones can use"
        case .unknown where !sent.hasCallInfo: "none: branding.call_info is false"
        case .unknown: "not recorded by the version of that time"
        }
    }
}
