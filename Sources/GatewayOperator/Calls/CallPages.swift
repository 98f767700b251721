// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import HTTPTypes
import WebPages

/// The values of the list of calls.
struct CallsValues: Sendable {
    struct Option: Sendable {
        let value: String
        let label: String
        let isChosen: Bool
    }

    struct Row: Sendable {
        let path: String
        let time: String
        let isInbound: Bool
        let trunk: String
        /// Nil for a call without a customer.
        let customer: String?
        let caller: String
        let called: String
        let brand: String
        let decision: String
        let outcome: String
        let tag: String
        let ring: String
        let talk: String
    }

    let number: String
    let name: String
    let callID: String
    let since: String
    let until: String
    let trunks: [Option]
    let customers: [Option]
    let hasCustomers: Bool
    let outcomes: [Option]
    let branded: [Option]
    let rows: [Row]
    let span: String
    let older: String?
    let latest: String?
}

/// The values of one call's page.
struct CallValues: Sendable {
    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Moment: Sendable {
        let time: String
        let offset: String
        let what: String
    }

    let facts: [Fact]
    let decision: String
    let explanation: String
    let tag: String
    let steps: [Fact]
    let timeline: [Moment]
    let isInProgress: Bool
    let events: [Event]

    struct Event: Sendable {
        let outcome: String
        let fate: String
    }
}

/// The fields of the search form, as the address of the page has them.
struct SearchFields {
    static let names: [Substring] = [
        "number", "name", "call_id", "trunk", "customer", "outcome", "branded", "since", "until",
    ]

    private let page: PageRequest

    init(_ page: PageRequest) { self.page = page }

    subscript(_ name: Substring) -> String { page.query(name) ?? "" }

    /// The address of the list with these fields.
    ///
    /// - Parameter row: only calls before this row.
    func path(before row: Int64?) -> String {
        var parts = Self.names.compactMap { name in
            let value = self[name]
            return value.isEmpty ? nil : "\(name)=\(PagePath.encoded(value))"
        }
        if let row { parts.append("before=\(row)") }
        return parts.isEmpty ? "/calls" : "/calls?" + parts.joined(separator: "&")
    }
}

// The list of calls and the story of one call.
extension GatewayPages {
    /// Days that a search without a begin covers: the ledger has no index of texts.
    static let usualDays: Int64 = 7
    /// Calls on one page.
    static let mostRows = 50

    func calls(_ page: PageRequest) async throws -> PageResult {
        let fields = SearchFields(page)
        let names = source.customerNames()
        let (asked, problem) = Self.read(fields, now: now())
        var search = asked
        search.before = page.query("before").flatMap { Int64($0) }
        let found = problem == nil ? try await source.calls(search, limit: Self.mostRows) : []
        let hasMore = found.count == Self.mostRows
        let values = CallsValues(
            number: fields["number"], name: fields["name"], callID: fields["call_id"], since: fields["since"],
            until: fields["until"],
            trunks: Self.options(source.trunkNames().map { ($0, $0) }, any: "any trunk", chosen: fields["trunk"]),
            customers: Self.options(
                Self.choices(names, chosen: fields["customer"]), any: "any customer", chosen: fields["customer"]),
            hasCustomers: !names.isEmpty || found.contains { $0.customer != nil },
            outcomes: Self.options(Self.outcomes, any: "any outcome", chosen: fields["outcome"]),
            branded: Self.options(
                [("yes", "with a brand"), ("no", "without a brand")], any: "with or without", chosen: fields["branded"]),
            rows: found.map { row($0, page) },
            span: search.since.map { "since \(PageTime.text($0)) UTC" } ?? "",
            older: hasMore ? found.last.map { fields.path(before: $0.row) } : nil,
            latest: search.before == nil ? nil : fields.path(before: nil))
        return .page(
            template: "calls", title: "Calls", content: values, status: problem == nil ? .ok : .badRequest,
            notice: problem.map { PageNotice(.error, $0) })
    }

    func call(_ page: PageRequest) async throws -> PageResult {
        guard let row = Int64(page.pathPart("row")), let call = try await source.call(row: row) else {
            throw PageProblem(
                .notFound, "There is no such call in the ledger. It may have been removed; see outcomes.retention.")
        }
        let story = CallStory(call)
        let values = CallValues(
            facts: story.facts.map { fact in
                CallValues.Fact(name: fact.name, value: fact.isNumber ? shown(fact.value, page) : fact.value)
            },
            decision: call.decision, explanation: DecisionText.of(call.decision),
            tag: call.decision == "matched" ? "good" : "soft",
            steps: story.steps.map { step in
                CallValues.Fact(name: step.name, value: step.finding { shown($0, page) })
            },
            timeline: call.timeline.map { moment in
                CallValues.Moment(
                    time: PageTime.text(microseconds: moment.at), offset: moment.offset, what: moment.what)
            },
            isInProgress: call.outcome == nil,
            events: call.events.map { CallValues.Event(outcome: $0.outcome, fate: $0.fate) })
        return .page(template: "call", title: "Call \(call.callID)", content: values)
    }

    private func row(_ call: LedgerCallRow, _ page: PageRequest) -> CallsValues.Row {
        CallsValues.Row(
            path: "/calls/\(call.row)", time: PageTime.text(microseconds: call.inviteAt),
            isInbound: call.direction == "inbound", trunk: call.trunk ?? "–", customer: call.customer,
            caller: call.callerShown { shown($0, page) } ?? "–",
            called: (call.destination ?? call.subscriber).map { shown($0, page) } ?? "–",
            brand: call.brandName ?? "–", decision: call.decision, outcome: call.outcomeShown,
            tag: call.decision == "matched" ? "good" : "soft",
            ring: call.ringSeconds.map { "\($0) s" } ?? "–", talk: call.callSeconds.map { "\($0) s" } ?? "–")
    }

    private static let outcomes = [("OPEN", "in progress")] + CallOutcome.allCases.map { ($0.rawValue, $0.rawValue) }

    /// The customers, and the chosen one if it was removed: its calls stay in the ledger.
    private static func choices(_ names: [String], chosen: String) -> [(String, String)] {
        let removed = chosen.isEmpty || names.contains(chosen) ? [] : [(chosen, "\(chosen) (no customer now)")]
        return removed + names.map { ($0, $0) }
    }

    private static func options(_ values: [(String, String)], any: String, chosen: String) -> [CallsValues.Option] {
        ([("", any)] + values).map { value, label in
            CallsValues.Option(value: value, label: label, isChosen: value == chosen)
        }
    }

    /// The search of a form, or the first problem with its remedy.
    private static func read(_ fields: SearchFields, now: Int64) -> (CallFilter, problem: String?) {
        func text(_ name: Substring) -> String? { fields[name].isEmpty ? nil : fields[name] }
        var search = CallFilter()
        if let number = text("number") { search.setNumber(asWritten: number) }
        search.name = text("name")
        search.callIDPart = text("call_id")
        search.trunk = text("trunk")
        search.customer = text("customer")
        search.outcome = text("outcome")
        search.isBranded = text("branded").map { $0 == "yes" }
        search.since = now - usualDays * 86_400
        for (name, label) in [("number", "Number"), ("name", "Name"), ("call_id", "Call-ID")] as [(Substring, String)] {
            if fields[name].utf8.count > 200 { return (search, "\(label) must have at most 200 bytes.") }
        }
        if let outcome = search.outcome, !outcomes.contains(where: { $0.0 == outcome }) {
            return (search, "Outcome must be one of the list.")
        }
        if let since = text("since") {
            guard let seconds = PageTime.seconds(since) else { return (search, wrongTime("From")) }
            search.since = seconds
        }
        if let until = text("until") {
            guard let seconds = PageTime.seconds(until) else { return (search, wrongTime("Until")) }
            // A day or a minute means its last second.
            search.until = seconds + (until.count <= 10 ? 86_399 : until.count <= 16 ? 59 : 0)
        }
        return (search, nil)
    }

    private static func wrongTime(_ label: String) -> String {
        "\(label) must be a day or a minute in UTC, such as 2026-01-31 or 2026-01-31T12:00."
    }
}
