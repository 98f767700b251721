// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import HTTPTypes
import Primitives
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

        init(_ page: PageRequest, _ zone: LocalZone) {
            if let text = page.query("number") {
                filter.number = E164Number(text.filter { !" ()-./".contains($0) })
                if filter.number == nil { problems["number"] = "Write a whole number such as +61491570156." }
            }
            (filter.outcome, filter.callOutcome) = (page.query("outcome"), page.query("call"))
            filter.deviceID = page.query("device")
            filter.counted = page.query("counted").map { $0 == "yes" }
            filter.since = time("since", page, zone)
            filter.until = time("until", page, zone)
        }

        private mutating func time(_ name: String, _ page: PageRequest, _ zone: LocalZone) -> Int64? {
            guard let text = page.query(name[...]) else { return nil }
            if let seconds = zone.seconds(ofField: text) { return seconds }
            problems[name] = "Write a local time such as 2026-11-27T09:30, or one in UTC such as 2026-11-27T09:30:00Z."
            return nil
        }
    }

    /// The parameters of a search, which a link to the next page keeps.
    private static let parameters = ["brand", "outcome", "call", "number", "counted", "since", "until", "device"]

    private func search(_ request: OperatorRequest) async throws -> PageResult {
        let (account, page) = (try await request.account(), request.page)
        var search = Search(page, request.zone)
        let (database, id, brand) = (request.database, account.id, page.query("brand"))
        let (known, brands) = try await request.blocking {
            let list = BrandList(database, account: id)
            return (try list.page(after: nil, limit: 200), try brand.map { try Self.brands($0, list) })
        }
        search.filter.brandIDs = brands
        if brands?.isEmpty == true { search.problems["brand"] = "No brand has this in its name or identifier." }
        var parts = [PagePart(form: form(request, account, known, search.problems))]
        guard search.problems.isEmpty else {
            return request.result(
                "Events", of: account, tab: "/events", parts: parts, status: .unprocessableContent)
        }
        let after = page.query("after").flatMap { EventLedger.Position($0) }
        let filter = search.filter
        let (found, names) = try await request.blocking {
            let found = try EventLedger(database, account: id).page(filter, after: after, limit: OperatorRequest.rows)
            let ids = Set(found.events.compactMap(\.brandID))
            return (found, try BrandList(database, account: id).names(of: ids))
        }
        var part = PagePart(table: Self.table(found.events, names, account, request))
        if let next = found.next {
            let query = Self.parameters.compactMap { name in
                page.query(name[...]).map { "\(name)=\(PagePath.encoded($0))&" }
            }
            let path = account.path + "/events?" + query.joined() + "after=" + PagePath.encoded(next.description)
            part.linkList = .init(links: [PageLink(href: path, linkText: "Older events")])
        }
        parts.append(part)
        return request.result("Events", of: account, tab: "/events", parts: parts)
    }

    /// The brands of a text: the one with this identifier, else those with it in name or identifier.
    private static func brands(_ text: String, _ list: BrandList) throws -> Set<String> {
        let named = try list.names(of: [text])
        if !named.isEmpty { return Set(named.keys) }
        return Set(try list.page(containing: text, after: nil, limit: 200).map(\.id))
    }

    private func form(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ known: [BrandList.Brand],
        _ problems: [String: String]
    ) -> EntryForm {
        let page = request.page
        let ends = CallResult.callOutcomes.map { (value: $0.key, text: $0.value) }
        return EntryForm(
            account.path + "/events",
            [
                .text(
                    "brand", "Brand", page.query("brand") ?? "", hint: "its identifier, or a part of its name",
                    suggestions: known.map(\.id), problem: problems["brand"]),
                .choice("call", "Outcome of the call", page.query("call") ?? "", [("", "all")] + ends),
                .text(
                    "outcome", "Type", page.query("outcome") ?? "",
                    suggestions: ["displayed", "call_seen", "missed", "returned", "error", "no_match"]),
                .text("number", "Number", page.query("number") ?? "", type: "tel", problem: problems["number"]),
                .choice(
                    "counted", "Counted", page.query("counted") ?? "",
                    [("", "all"), ("yes", "counted"), ("no", "not counted")],
                    hint: "on the bill; analytics_only is for reports alone"),
                .text(
                    "since", "From", page.query("since") ?? "", hint: "local time", type: "datetime-local",
                    problem: problems["since"]),
                .text(
                    "until", "Before", page.query("until") ?? "", hint: "local time", type: "datetime-local",
                    problem: problems["until"]),
                .text("device", "Device", page.query("device") ?? ""),
            ], button: "Search", isGet: true)
    }

    private static func table(
        _ events: [EventLedger.Recorded], _ names: [String: String], _ account: OperatorRequest.Account,
        _ request: OperatorRequest
    ) -> PageTable {
        var table = PageTable(
            "Events, the newest first",
            ["Received", "Brand", "Number", "Type", "Outcome", "Counted", "Shown at", "Device"],
            empty: "No event fits. Search with fewer conditions.")
        for event in events {
            var counted = event.counted ? PageTable.Cell.tag("yes", "good") : .tag("no", "soft")
            counted.cellDetail = event.warning ?? event.reason
            table.add(
                request.time(event.receivedAt), brand(event, names, account), .text(request.shownText(event.number)),
                .text(event.outcome, detail: event.surface), outcome(event), counted, request.time(event.displayedAt),
                device(event, account))
        }
        return table
    }

    /// The begin of a device's identifier, which leads to its events.
    private static func device(
        _ event: EventLedger.Recorded, _ account: OperatorRequest.Account
    ) -> PageTable.Cell {
        guard let id = event.deviceID else { return .text(nil) }
        let begin = id.count > 12 ? id.prefix(8) + "…" : id[...]
        return .link(String(begin), PagePath.with(account.path + "/events", ["device": id]))
    }

    private static func brand(
        _ event: EventLedger.Recorded, _ names: [String: String], _ account: OperatorRequest.Account
    ) -> PageTable.Cell {
        guard let id = event.brandID else { return .text(nil) }
        guard let name = names[id] else { return .text(id) }
        return .link(name, PagePath.with(account.path + "/brand", ["id": id]))
    }

    private static func outcome(_ event: EventLedger.Recorded) -> PageTable.Cell {
        guard let text = event.callOutcome else { return .text(nil) }
        let plain = CallResult.callOutcomes.first { $0.key == text }?.value
        let color = text == "ANSWERED" ? "good" : ["MISSED", "BUSY", "FAILED"].contains(text) ? "bad" : "warn"
        return .tag(plain ?? text, color)
    }
}
