// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Primitives

/// One call for the support desk of a brand: received, decided, written, and shown by a family of phones.
///
/// Made of the record and of the brand as it is now. Evidence that has gone is named as gone. All texts are free of control
/// characters; a page escapes them.
struct WhyCard: Hashable, Sendable {
    /// A value behind its name.
    struct Row: Hashable, Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// A part of the card with its heading.
    struct Part: Hashable, Sendable {
        let title: String
        let rows: [Row]
    }

    /// The gateway's own copy of the brand's logo.
    struct Picture: Hashable, Sendable {
        let bytes: [UInt8]
        /// A media type: `image/png`, `image/jpeg` or `image/bmp`.
        let type: String

        /// Nil for a name without a known extension.
        init?(named name: String, _ bytes: [UInt8]?) {
            let types = ["png": "image/png", "jpg": "image/jpeg", "bmp": "image/bmp"]
            guard let bytes, let type = name.split(separator: ".").last.flatMap({ types[String($0)] }) else {
                return nil
            }
            (self.bytes, self.type) = (bytes, type)
        }
    }

    /// The lines of the phone.
    struct Phone: Hashable, Sendable {
        let title: String
        let name: String
        let callReason: String?
        let number: String?
    }

    let title: String
    let phone: Phone?
    let picture: Picture?
    let parts: [Part]

    /// - Parameters:
    ///   - brand: the brand as it is now; nil where it has gone or is another one.
    ///   - picture: the stored copy of its logo; nil for none.
    ///   - family: the callee's phones; nil lists all families.
    init(
        _ call: LedgerCallRow, _ brand: PresentBrand?, picture: Picture?, family: PhoneDisplay?,
        numbers choice: CardNumbers.Choice, zone: LocalZone
    ) {
        let (story, numbers) = (call.story, CardNumbers(call, choice))
        let card = CallCard(story, brand)
        title = numbers.text(story.title)
        phone = card.map { card in
            Phone(
                title: card.title, name: numbers.text(card.name),
                callReason: card.callReason.map { TerminalText.visible(numbers.cleaned($0)) },
                number: card.number.map(numbers.text))
        }
        let isSent = (story.sent ?? story.unsent)?.logo == .written
        self.picture = isSent ? picture : nil
        let evidence = CardEvidence(call: call, brand: brand, numbers: numbers, zone: zone)
        let shown = FamilyView(story: story, card: card, numbers: numbers)
        parts = [
            Part(title: "Call", rows: evidence.facts), Part(title: "Received", rows: evidence.received),
            Part(title: "Decided, and why", rows: evidence.decided), Part(title: "Written", rows: evidence.written),
            Part(title: "On the phone", rows: shown.rows(of: family)),
            Part(title: "Not in the record", rows: evidence.gone(hasPicture: self.picture != nil, isLogoSent: isSent)),
        ].filter { !$0.rows.isEmpty }
    }
}
