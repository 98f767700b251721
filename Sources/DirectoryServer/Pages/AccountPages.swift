// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import WebPages

/// Lists, adds, changes and removes accounts.
struct AccountPages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [
            desk.page(.get, "/accounts", entry: "Accounts") { try await list($0) },
            desk.page(.post, "/accounts") { try await add($0) },
            desk.page(.get, "/accounts/:account") { try await show($0) },
            desk.page(.post, "/accounts/:account") { try await change($0) },
            desk.page(.get, "/accounts/:account/remove") { try await askRemove($0) },
            desk.page(.post, "/accounts/:account/remove") { try await remove($0) },
        ]
    }

    private func list(
        _ request: OperatorRequest, form: EntryForm? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> PageResult {
        let (database, now) = (request.database, request.now)
        let accounts = try await request.blocking { try AccountList(database).all(now: now) }
        let parts = [
            PagePart(table: Self.table(accounts)),
            PagePart(
                heading: "New account",
                texts: ["An account is one customer with brands, keys, devices and a bill of its own."],
                form: form ?? Self.newForm(name: "", problem: nil)),
        ]
        return OperatorRequest.result("Accounts", parts: parts, status: status)
    }

    static func table(_ accounts: [AccountList.Summary]) -> PageTable {
        var table = PageTable(
            "Accounts", ["Name", "State", "Branding", "#Events this month", "Cap", "Pages"],
            empty: "There is no account.")
        for account in accounts {
            let path = "/accounts/\(PagePath.encoded(account.name))"
            table.add(
                .link(account.name, path), state(account),
                branding(account), .count(account.used),
                .text(account.cap.map { Amount.count($0) } ?? "none"),
                .links(
                    PageLink(href: path + "/brands", linkText: "Brands"),
                    PageLink(href: path + "/import", linkText: "Import"),
                    PageLink(href: path + "/keys", linkText: "Keys"),
                    PageLink(href: path + "/events", linkText: "Events")))
        }
        return table
    }

    private static func state(_ account: AccountList.Summary) -> PageTable.Cell {
        let mode = account.mode == "live" ? "" : ", \(account.mode)"
        return .tag(account.status + mode, AccountState.isOpen(account.status) ? "good" : "bad")
    }

    private static func branding(_ account: AccountList.Summary) -> PageTable.Cell {
        account.isBranding ? .tag("on", "good") : .tag(gate(account), "bad")
    }

    /// The gate that stops the brands of an account, or `on`.
    private static func gate(_ account: AccountList.Summary) -> String {
        if !account.brandingEnabled { return "off" }
        if !AccountState.isOpen(account.status) { return "stopped by status" }
        return account.isCapReached ? "stopped by cap" : "on"
    }

    private static func newForm(name: String, problem: String?) -> EntryForm {
        EntryForm(
            "/accounts",
            [
                .text(
                    "name", "Name", name, hint: "1 to 64 letters, digits, dots, dashes and underscores",
                    isRequired: true, problem: problem)
            ], button: "Add account")
    }

    private func add(_ request: OperatorRequest) async throws -> PageResult {
        let (database, now, name) = (request.database, request.now, request.form["name"])
        do {
            _ = try await request.blocking { try AccountList(database).create(name: name, now: now) }
        } catch let error as AccountStoreError {
            return try await list(
                request, form: Self.newForm(name: name, problem: PageDesk.sentence(error)),
                status: .unprocessableContent)
        }
        return .redirect(
            to: "/accounts/\(PagePath.encoded(name))/keys",
            notice: PageNotice(.done, "Account \(name) is ready. Make a key for its gateway next."))
    }

    private func show(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        return try await page(request, account, form: Self.settings(account))
    }

    private func page(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, form: EntryForm,
        status: HTTPResponse.Status = .ok
    ) async throws -> PageResult {
        let (database, now) = (request.database, request.now)
        let feed = try await request.blocking { try FeedSummary(database, account: account.id, now: now) }
        let summary = account.summary
        let tiles = [
            PagePart.Tile("State", summary.status, summary.mode),
            .init("Branding", Self.gate(summary)),
            .init("Events this month", Amount.count(summary.used), summary.cap.map { "cap \(Amount.count($0))" }),
            .init("Brands", Amount.count(feed.brands)),
            .init("Numbers", Amount.count(feed.active), feed.held > 0 ? "\(Amount.count(feed.held)) held back" : nil),
            .init("Last change", request.zone.shown(feed.changed), "change \(feed.lastChange)", isText: true),
        ]
        var parts = [
            PagePart.tiles(tiles),
            PagePart(
                texts: ["Identifier for clients: \(summary.id)"],
                linkList: .init(links: [
                    PageLink(
                        href: PagePath.with("/report", ["account": account.name]), linkText: "Month report")
                ])),
            PagePart(heading: "State and gates", form: form),
        ]
        if summary.status != "closed" {
            parts.append(
                PagePart(
                    heading: "Remove the account",
                    texts: ["Its keys end at once and its gateways stop branding. Events and reports stay."],
                    linkList: .init(links: [PageLink(href: account.path + "/remove", linkText: "Remove this account…")])
                ))
        }
        return request.result(account.name, of: account, parts: parts, status: status)
    }

    private static func settings(_ account: OperatorRequest.Account) -> EntryForm {
        let summary = account.summary
        return settings(
            account, status: summary.status, mode: summary.mode, isBranding: summary.brandingEnabled,
            isDialer: summary.voipDialerEnabled, cap: summary.cap.map { "\($0)" } ?? "",
            included: "\(summary.includedImprints)", problems: [:])
    }

    private static func settings(
        _ account: OperatorRequest.Account, status: String, mode: String, isBranding: Bool, isDialer: Bool,
        cap: String, included: String, problems: [String: String]
    ) -> EntryForm {
        EntryForm(
            account.path,
            [
                .choice(
                    "status", "Status", status, statuses(account.summary.status),
                    hint: "active and trial brand calls, every other status stops them", problem: problems["status"]),
                .choice(
                    "mode", "Mode", mode, [("live", "live"), ("testing", "testing")],
                    problem: problems["mode"]),
                .tick("branding", "Branding enabled", isBranding, hint: "off stops all brands of the account"),
                .tick("dialer", "VoIP dialer enabled", isDialer, hint: "shown to phones"),
                .text(
                    "cap", "Counted events a month, at most", cap, hint: "empty for no cap", problem: problems["cap"]),
                .text("included", "Imprints included in the plan", included, problem: problems["included"]),
            ], button: "Save")
    }

    /// The states to choose from, with one of an earlier version as long as the account has it.
    private static func statuses(_ present: String) -> [(String, String)] {
        let known = AccountState.allCases.map { ($0.rawValue, $0.rawValue) }
        return AccountState(rawValue: present) == nil
            ? [(present, "\(present) (unknown, stops branding)")] + known : known
    }

    private func change(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let form = request.form
        var change = AccountStore.Change()
        change.status = form["status"] == account.summary.status ? nil : form["status"]
        change.mode = form["mode"]
        (change.brandingEnabled, change.voipDialerEnabled) = (form.isTicked("branding"), form.isTicked("dialer"))
        var problems: [String: String] = [:]
        change.cap = form["cap"].isEmpty ? -1 : Self.count("cap", form["cap"], &problems)
        change.includedImprints = Self.count("included", form["included"], &problems)
        if problems.isEmpty {
            do {
                let (database, id, asked) = (request.database, account.id, change)
                try await request.blocking { try AccountStore(database, account: id).change(asked) }
                return .redirect(
                    to: account.path,
                    notice: PageNotice(.done, "Saved. Gateways and phones receive it with their next sync or event."))
            } catch let error as AccountStoreError {
                problems[Self.field(of: error)] = PageDesk.sentence(error)
            }
        }
        let again = Self.settings(
            account, status: form["status"], mode: form["mode"], isBranding: form.isTicked("branding"),
            isDialer: form.isTicked("dialer"), cap: form["cap"], included: form["included"], problems: problems)
        return try await page(request, account, form: again, status: .unprocessableContent)
    }

    private static func field(of error: AccountStoreError) -> String {
        switch error {
        case .badStatus: "status"
        case .badMode: "mode"
        case .badCap: "cap"
        default: "included"
        }
    }

    private static func count(_ field: String, _ text: String, _ problems: inout [String: String]) -> Int? {
        guard let count = Int(text), count >= 0 else {
            problems[field] = "Write a whole number, 0 or more, in digits only."
            return nil
        }
        return count
    }

    private func askRemove(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let form = EntryForm(
            account.path + "/remove", [], button: "Remove \(account.name)", isDanger: true, cancel: account.path)
        let text =
            "All keys of \(account.name) end at once. Its gateways stop branding calls; calls go on without brands."
        return request.result("Remove \(account.name)?", of: account, parts: [PagePart(texts: [text], form: form)])
    }

    private func remove(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (database, now) = (request.database, request.now)
        try await request.blocking { try AccountList(database).close(account.id, now: now) }
        return .redirect(
            to: account.path,
            notice: PageNotice(.done, "\(account.name) and its keys are removed. Its status is closed."))
    }
}
