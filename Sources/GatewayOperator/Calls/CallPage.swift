// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import HTTPTypes
import Primitives
import WebPages

/// The values of one call's page.
struct CallValues: Sendable {
    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Card: Sendable {
        let title: String
        let name: String
        let number: String?
        let callReason: String?
        /// The path of the gateway's own copy of the logo.
        let picture: String?
        let logo: String?
        let cardLink: String?
        let remark: String?
    }

    /// The reason of a missing brand, or that there is one.
    struct Decision: Sendable {
        let name: String
        let tag: String
        let cause: String
        let remedy: String?
    }

    /// One side of Herald in a row of the ladder.
    struct Leg: Sendable {
        /// The class of the arrow; empty without a message.
        let arrow: String
        let label: String
        /// The direction in words, for a screen reader.
        let way: String?
    }

    struct Rung: Sendable {
        let offset: String
        let time: String
        let left: Leg
        let right: Leg
        let what: String
        /// The evidence and the changed header lines, below the first INVITE alone.
        let steps: [Fact]
        let changes: [Change]
        let hasSteps: Bool
        let hasChanges: Bool
    }

    struct Change: Sendable {
        let isAdded: Bool
        let line: String
    }

    struct Event: Sendable {
        let outcome: String
        let fate: String
    }

    let began: String
    let trunk: String?
    let customer: String?
    let outcome: String
    let card: Card?
    let decision: Decision
    let ladder: [Rung]
    let isInbound: Bool
    let isInProgress: Bool
    let events: [Event]
    let facts: [Fact]
    /// The permanent address; a path where the pages have no address for people.
    let link: String?
    let linkText: String
    /// The path of the card for a support desk.
    let cardPath: String
    let phones: [Phone]
    let showsNumbers: Bool

    /// A family of phones to choose from.
    struct Phone: Sendable {
        let key: String
        let title: String
    }
}

// The story of one call.
extension GatewayPages {
    func call(_ page: PageRequest) async throws -> PageResult {
        guard let call = try await found(page.pathPart("row")) else { throw Self.unknownCall }
        let (story, brand) = (call.story, source.presentBrand(of: call))
        func text(_ text: StoryText) -> String { text.text { shown($0, page) } }
        let path = CallIdentifier(call.callID).map { "/calls/\($0)" }
        let values = CallValues(
            began: zone.withUTC(call.inviteAt / 1_000_000), trunk: call.trunk, customer: call.customer,
            outcome: call.outcomeShown,
            card: CallCard(story, brand).map { CallValues.Card($0, text) },
            decision: CallValues.Decision(
                name: call.decision, tag: story.sent == nil ? "soft" : "good",
                cause: story.missing.map { text($0.cause) } ?? DecisionText.of(call.decision),
                remedy: story.missing.map { text($0.remedy) }),
            ladder: call.ladder.rungs.map { rung($0, call, brand, page) }, isInbound: call.direction == "inbound",
            isInProgress: call.outcome == nil,
            events: call.events.map { CallValues.Event(outcome: $0.outcome, fate: $0.fate) },
            facts: call.facts.map { fact in
                CallValues.Fact(name: fact.name, value: fact.isNumber ? shown(fact.value, page) : fact.value)
            },
            link: path, linkText: source.links.linked(call).link ?? path ?? "",
            cardPath: "/calls/\(call.row)/card",
            phones: PhoneDisplay.allCases.map { CallValues.Phone(key: $0.rawValue, title: $0.title) },
            showsNumbers: page.showsNumbers || numbers == .full)
        return .page(template: "call", title: text(story.title), content: values)
    }

    static let unknownCall = PageProblem(
        .notFound, "There is no such call in the ledger. It may have been removed; see outcomes.retention.")

    /// The call of a path: its row in the ledger, or its identifier.
    func found(_ part: String) async throws -> LedgerCallRow? {
        if let row = Int64(part) { return try await source.call(row: row) }
        guard let id = CallIdentifier(part) else { return nil }
        return try await source.call(id)
    }

    private func rung(
        _ rung: CallLadder.Rung, _ call: LedgerCallRow, _ brand: PresentBrand?, _ page: PageRequest
    ) -> CallValues.Rung {
        let steps = rung.isFirst ? call.steps : []
        let changes = rung.isFirst ? call.story.changes.flatMap { $0.lines(brand) { shown($0, page) } } : []
        return CallValues.Rung(
            offset: rung.offset, time: zone.timeOfDay(rung.at / 1_000_000),
            left: CallValues.Leg(rung.left, rung.label, ("trunk", "Herald")),
            right: CallValues.Leg(rung.right, rung.label, ("Herald", "PBX")), what: rung.what,
            steps: steps.map { step in CallValues.Fact(name: step.name, value: step.finding { shown($0, page) }) },
            changes: changes.map { CallValues.Change(isAdded: $0.mark == "+", line: $0.line) },
            hasSteps: !steps.isEmpty, hasChanges: !changes.isEmpty)
    }
}

extension CallValues.Card {
    fileprivate init(_ card: CallCard, _ text: (StoryText) -> String) {
        title = card.title
        name = text(card.name)
        number = card.number.map(text)
        callReason = card.callReason
        picture = card.copy.map { "/logos/\($0)" }
        logo = card.logo
        cardLink = card.cardLink
        remark = card.remark
    }
}

extension CallValues.Leg {
    /// - Parameter ends: the names of its ends, from the left.
    fileprivate init(_ arrow: CallLadder.Arrow?, _ label: String, _ ends: (String, String)) {
        self.arrow = arrow?.rawValue ?? ""
        self.label = arrow == nil ? "" : label
        way =
            switch arrow {
            case nil: nil
            case .toPBX: " from \(ends.0) to \(ends.1)"
            case .toTrunk: " from \(ends.1) to \(ends.0)"
            case .either: " between \(ends.0) and \(ends.1)"
            }
    }
}
