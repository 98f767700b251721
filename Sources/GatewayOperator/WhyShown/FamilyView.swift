// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// The rows of a card about the phone: a family's documents applied to the parts that were sent.
struct FamilyView {
    typealias Row = WhyCard.Row

    let story: CallStory
    /// Nil for a call from the PBX.
    let card: CallCard?
    let numbers: CardNumbers

    /// - Parameter family: nil lists every family in one row.
    func rows(of family: PhoneDisplay?) -> [Row] {
        guard let card else { return [] }
        if story.unsent != nil { return [Row("phone", "no phone showed the brand: brands: shadow is set")] }
        let reach =
            story.hasReachedPhone
            ? "a phone rang; its model is not in the record" : "no phone is known to have rung"
        guard let family else {
            return [Row("phone", reach)] + PhoneDisplay.allCases.map { Row($0.title, line($0, card)) }
        }
        return [
            Row("phone", reach), Row("family", family.title), Row("name", name(family, card)),
            Row("logo", logo(family)), Row("reason", callReason), Row("trust mark", mark(family)),
            Row("source", "docs/phones.md, from \(family.source)"),
        ]
    }

    private func line(_ family: PhoneDisplay, _ card: CallCard) -> String {
        "name: \(name(family, card)). Logo: \(logo(family)). Trust mark: \(mark(family)). Source: \(family.source)."
    }

    private func name(_ family: PhoneDisplay, _ card: CallCard) -> String {
        let fields = family.nameFields.map { "from \($0)" } ?? "from a field that no document names"
        guard let sent = story.sent else { return "the carrier's name if it sent one, \(fields)" }
        guard sent.name != nil else { return "the carrier's name stays, \(fields)" }
        return "\"\(numbers.text(card.name))\", \(fields)"
    }

    private func logo(_ family: PhoneDisplay) -> String {
        let isSent = story.sent?.logo == .written
        switch family.picture {
        case .callInfo(let form):
            if story.sent?.logo == .unknown { return "not known: the record does not have the parts of Call-Info" }
            return isSent ? "shown if the phone reaches the URL and reads \(form)" : "not shown: none was sent"
        case .byNumber(let form):
            return "from a server by the caller's number, \(form); the INVITE changes nothing"
        case .none(let why): return "not shown: \(why)"
        }
    }

    private var callReason: String {
        switch story.sent?.callReason {
        case .written: "not shown: it arrives in Call-Info for applications, and no known phone reads it"
        case .leftOut: "not sent: it did not fit into max_datagram of the PBX"
        case .unknown: "not known: the record does not have the parts of Call-Info"
        case .absent, nil: "not shown: none was sent"
        }
    }

    private func mark(_ family: PhoneDisplay) -> String {
        family.marks.map { "\($0), by the verstat that reaches the phone; the record does not keep it" }
            ?? "no document of this family has one"
    }
}
