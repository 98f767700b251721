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
        return try await page(request, account, AccountForm(account.summary))
    }

    private func page(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ form: AccountForm,
        _ conflict: EditConflict? = nil, status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
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
            PagePart(heading: "State and gates", form: form.form(account)),
        ]
        if let conflict { parts.insert(conflict.part(page: account.path), at: 0) }
        if summary.status != "closed" {
            parts.append(
                PagePart(
                    heading: "Remove the account",
                    texts: ["Its keys end at once and its gateways stop branding. Events and reports stay."],
                    linkList: .init(links: [PageLink(href: account.path + "/remove", linkText: "Remove this account…")])
                ))
        }
        return request.result(account.name, of: account, parts: parts, status: status, notice: notice)
    }

    private func change(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        var form = AccountForm(request.form)
        let change = form.change(of: account.summary)
        guard form.problems.isEmpty else {
            return try await page(request, account, form, status: .unprocessableContent)
        }
        do {
            let (database, id, condition) = (request.database, account.id, VersionCondition.from(form.version))
            try await request.blocking { try AccountStore(database, account: id).change(change, if: condition) }
            return .redirect(
                to: account.path,
                notice: PageNotice(.done, "Saved. Gateways and phones receive it with their next sync or event."))
        } catch let error as AccountStoreError {
            form.take(error)
            return try await page(request, account, form, status: .unprocessableContent)
        } catch is VersionConflict {
            let present = try await request.account()
            let conflict = form.compare(with: present.summary)
            return try await page(
                request, present, form, conflict, status: .conflict, notice: EditConflict.notice("this account"))
        }
    }

    private func askRemove(
        _ request: OperatorRequest, status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
    ) async throws -> PageResult {
        let account = try await request.account()
        let form = EntryForm(
            account.path + "/remove", [.hidden("version", account.summary.version.text)],
            button: "Remove \(account.name)", isDanger: true, cancel: account.path)
        let text =
            "All keys of \(account.name) end at once. Its gateways stop branding calls; calls go on without brands."
        return request.result(
            "Remove \(account.name)?", of: account, parts: [PagePart(texts: [text], form: form)], status: status,
            notice: notice)
    }

    private func remove(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (database, now, condition) = (request.database, request.now, VersionCondition.from(request.form["version"]))
        do {
            try await request.blocking { try AccountList(database).close(account.id, if: condition, now: now) }
        } catch is VersionConflict {
            return try await askRemove(request, status: .conflict, notice: EditConflict.notice("this account"))
        }
        return .redirect(
            to: account.path,
            notice: PageNotice(.done, "\(account.name) and its keys are removed. Its status is closed."))
    }
}
