// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import HTTPTypes
import WebPages

/// Searches the events of an account, newest first.
struct EventPages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [desk.page(.get, "/accounts/:account/events") { try await search($0) }]
    }

    private struct Search {
        var filter = EventLedger.Filter()
        var problems: [String: String] = [:]

        init(_ page: PageRequest) {
            if let text = page.query("number") {
                filter.number = E164Number(text.filter { !" ()-./".contains($0) })
                if filter.number == nil { problems["number"] = "Write a whole number such as +61491570156." }
            }
            (filter.outcome, filter.deviceID) = (page.query("outcome"), page.query("device"))
            filter.counted = page.query("counted").map { $0 == "yes" }
            filter.since = time("since", page)
            filter.until = time("until", page)
        }

        /// A time as a browser's field gives it, in UTC.
        private mutating func time(_ name: String, _ page: PageRequest) -> Int64? {
            guard let text = page.query(name[...]) else { return nil }
            let whole = text.count == 10 ? text + "T00:00:00Z" : text.count == 16 ? text + ":00Z" : text + "Z"
            if let seconds = Timestamp.seconds(from: whole) ?? Timestamp.seconds(from: text) { return seconds }
            problems[name] = "Write a time such as 2026-11-27T09:30, in UTC."
            return nil
        }
    }

    private func search(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let search = Search(request.page)
        var parts = [PagePart(form: form(request, account, search.problems))]
        guard search.problems.isEmpty else {
            return request.result(
                "Events", of: account, tab: "/events", parts: parts, status: .unprocessableContent)
        }
        let after = request.page.query("after").flatMap { EventLedger.Position($0) }
        let (database, id, filter) = (request.database, account.id, search.filter)
        let found = try await request.blocking {
            try EventLedger(database, account: id).page(filter, after: after, limit: OperatorRequest.rows)
        }
        var part = PagePart(table: Self.table(found.events, request))
        if let next = found.next {
            let page = request.page
            let path = PagePath.with(
                account.path + "/events",
                [
                    "number": page.query("number"), "outcome": page.query("outcome"),
                    "counted": page.query("counted"), "device": page.query("device"), "since": page.query("since"),
                    "until": page.query("until"), "after": next.description,
                ])
            part.linkList = .init(links: [PageLink(href: path, linkText: "Older events")])
        }
        parts.append(part)
        return request.result("Events", of: account, tab: "/events", parts: parts)
    }

    private func form(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ problems: [String: String]
    ) -> EntryForm {
        let page = request.page
        return EntryForm(
            account.path + "/events",
            [
                .text("number", "Number", page.query("number") ?? "", type: "tel", problem: problems["number"]),
                .text(
                    "outcome", "Type", page.query("outcome") ?? "",
                    suggestions: ["displayed", "answered", "missed", "rejected", "returned"]),
                .choice(
                    "counted", "Counted", page.query("counted") ?? "",
                    [("", "all"), ("yes", "counted"), ("no", "not counted")]),
                .text(
                    "since", "From (UTC)", page.query("since") ?? "", type: "datetime-local", problem: problems["since"]
                ),
                .text(
                    "until", "Before (UTC)", page.query("until") ?? "", type: "datetime-local",
                    problem: problems["until"]),
                .text("device", "Device", page.query("device") ?? ""),
            ], button: "Search", isGet: true)
    }

    private static func table(_ events: [EventLedger.Recorded], _ request: OperatorRequest) -> PageTable {
        var table = PageTable(
            "Events, the newest first", ["Received", "Number", "Type", "Counted", "Device", "Shown at"],
            empty: "No event fits. Search with fewer conditions.")
        for event in events {
            var counted = event.counted ? PageTable.Cell.tag("yes", "good") : .tag("no", "soft")
            counted.cellDetail = event.warning ?? event.reason
            table.add(
                .text(Amount.time(event.receivedAt)), .text(request.shownText(event.number)),
                .text(event.outcome, detail: event.surface), counted, .text(event.deviceID),
                .text(Amount.time(event.displayedAt)))
        }
        return table
    }
}
