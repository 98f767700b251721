// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import HTTPTypes
import WebPages

/// Lists the numbers of an account, adds many and removes single ones.
struct NumberPages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/numbers") { try await show($0, $0.account()) },
            desk.page(.post, "/accounts/:account/numbers/add", limit: 256 * 1024) { try await add($0) },
            desk.page(.post, "/accounts/:account/numbers/remove") { try await remove($0) },
        ]
    }

    private func show(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, lines: NumberLines = NumberLines(),
        brand: TypedBrand = TypedBrand(), status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
    ) async throws -> PageResult {
        var parts = try await list(request, account)
        parts.append(try await addForm(request, account, lines, brand))
        if let report = lines.report { parts.append(report) }
        return request.result("Numbers", of: account, tab: "/numbers", parts: parts, status: status, notice: notice)
    }

    /// The search with what it has found.
    private func list(_ request: OperatorRequest, _ account: OperatorRequest.Account) async throws -> [PagePart] {
        let page = request.page
        let (text, chosen) = (page.query("q") ?? "", page.query("state") ?? "")
        let state = BrandNumbers.State(rawValue: chosen)
        let search = EntryForm(
            account.path + "/numbers",
            [
                .text("q", "Number", text, hint: "the first digits with the country code", type: "search"),
                .choice(
                    "state", "State", chosen,
                    [("", "all")] + BrandNumbers.State.allCases.map { ($0.rawValue, $0.rawValue) }),
            ], button: "Search", isGet: true)
        if let digits = NumberSearch.digits(of: text) {
            return [PagePart(form: search), try await NumberSearch.part(request, account, digits)]
        }
        var first = PagePart(form: search)
        if !text.isEmpty { first.notices = [.error("Search with at least three digits, such as +6149.")] }
        let after = NumberSearch.position(request)
        let (database, id) = (request.database, account.id)
        let rows = try await request.blocking {
            try BrandNumbers(database, account: id).page(after: after, limit: OperatorRequest.rows, state: state)
        }
        var part = PagePart(
            texts: NumberSearch.remarks(rows, request),
            table: NumberSearch.table("Numbers", rows, account, request, empty: "There is no such number."))
        if rows.count == OperatorRequest.rows, let last = rows.last {
            let next = PagePath.with(
                account.path + "/numbers", ["state": state?.rawValue, "after": NumberSearch.position(last)])
            part.linkList = .init(links: [PageLink(href: next, linkText: "Next page")])
        }
        return [first, part]
    }

    /// The form that adds numbers, or the way to the first brand.
    private func addForm(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ lines: NumberLines, _ brand: TypedBrand
    ) async throws -> PagePart {
        let (database, id) = (request.database, account.id)
        let known = try await request.blocking { try BrandList(database, account: id).page(after: nil, limit: 200) }
        guard !known.isEmpty else {
            return .links(PageLink(href: account.path + "/new-brand", linkText: "Add a brand first"))
        }
        return PagePart(
            heading: "Add numbers",
            form: lines.form(account.path + "/numbers/add", brand: brand.field(known: known.map(\.id))))
    }

    private func add(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (database, id, text) = (request.database, account.id, request.form["brand"])
        let typed = try await request.blocking { try TypedBrand(text, in: BrandList(database, account: id)) }
        guard let brand = typed.brand else {
            return try await show(
                request, account, lines: NumberLines(request.form), brand: typed, status: .unprocessableContent)
        }
        let addition = try await NumberAddition(request, account, brand)
        guard addition.isComplete else {
            return try await show(
                request, account, lines: addition.lines, brand: typed, status: .unprocessableContent,
                notice: addition.notice)
        }
        return .redirect(to: account.path + "/numbers", notice: addition.notice)
    }

    private func remove(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        guard let number = E164Number(request.form["number"]) else {
            throw PageProblem(.badRequest, "The form has no number. Nothing was changed. Open the page again.")
        }
        let (database, id, now) = (request.database, account.id, request.now)
        let condition = VersionCondition.from(request.form["version"])
        let removed: BrandNumbers.NumberRow?
        do {
            removed = try await request.blocking {
                try BrandNumbers(database, account: id).deactivate(number, if: condition, now: now)
            }
        } catch is VersionConflict {
            return try await moved(request, account, number)
        }
        let notice =
            removed != nil
            ? PageNotice(
                .done, "\(request.shown("\(number)")) is removed: it rings without a brand from the next sync on.")
            : PageNotice(.warning, "\(request.shown("\(number)")) was removed already.")
        return .redirect(
            to: PagePath.with(account.path + "/brand", ["id": request.form["id"]]), notice: notice)
    }

    /// A number that another person has changed: nothing is removed, and its present values are shown.
    private func moved(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ number: E164Number
    ) async throws -> PageResult {
        let (database, id) = (request.database, account.id)
        let found = try await request.blocking { try BrandNumbers(database, account: id).find(number) }
        guard let row = found else { throw PageProblem(.notFound, "The account never had this number.") }
        var conflict = EditConflict()
        _ = conflict.compare("State", mine: BrandNumbers.State.inactive.rawValue, theirs: row.state.rawValue)
        _ = conflict.compare("Brand", mine: "", theirs: row.name)
        _ = conflict.compare("Call reason", mine: "", theirs: row.reason ?? "")
        let back = PagePath.with(account.path + "/brand", ["id": row.brandID])
        let form = EntryForm(
            account.path + "/numbers/remove",
            [.hidden("number", row.number), .hidden("id", row.brandID), .hidden("version", row.version.text)],
            button: "Remove it all the same", isDanger: true, cancel: back)
        return request.result(
            "Remove \(request.shown(row.number))?", of: account, tab: "/numbers",
            parts: [conflict.part(page: back), PagePart(form: form)], status: .conflict,
            notice: EditConflict.notice("this number"))
    }
}

/// Finds numbers by their first digits.
enum NumberSearch {
    /// The digits of a text that is a number or its beginning; nil for other texts and fewer than three digits.
    static func digits(of text: String) -> String? {
        guard text.allSatisfy({ $0.isASCII && ($0.isNumber || " +()-./".contains($0)) }) else { return nil }
        let digits = text.filter(\.isNumber)
        return (3...15).contains(digits.count) && digits.first != "0" ? digits : nil
    }

    /// The end of a page of numbers for its next link, in base 36: a masked page shows no whole number.
    static func position(_ row: BrandNumbers.NumberRow) -> String {
        E164Number(row.number).map { String($0.digits, radix: 36) } ?? ""
    }

    static func position(_ request: OperatorRequest) -> E164Number? {
        request.page.query("after").flatMap { UInt64($0, radix: 36) }.flatMap { E164Number(digits: $0) }
    }

    static func part(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ digits: String
    ) async throws -> PagePart {
        let (database, id) = (request.database, account.id)
        let rows = try await request.blocking {
            try BrandNumbers(database, account: id).page(beginningWith: digits, limit: OperatorRequest.rows)
        }
        return PagePart(
            texts: remarks(rows, request),
            table: table(
                "Numbers that begin with +\(digits)", rows, account, request, empty: "No number begins so."))
    }

    static func table(
        _ caption: String, _ rows: [BrandNumbers.NumberRow], _ account: OperatorRequest.Account,
        _ request: OperatorRequest, empty: String
    ) -> PageTable {
        var columns = ["Number", "Brand", "Call reason", "State", "Changed"]
        if request.page.showsNumbers { columns.append("Action") }
        var table = PageTable(caption, columns, empty: empty)
        for row in rows {
            var cells: [PageTable.Cell] = [
                .text(request.shown(row.number)),
                .link(row.name, PagePath.with(account.path + "/brand", ["id": row.brandID])), .text(row.reason),
                .tag(row.state.rawValue, row.state == .active ? "good" : row.state == .held ? "warn" : "soft"),
                request.time(row.updated),
            ]
            if request.page.showsNumbers { cells.append(action(row, account)) }
            table.add(cells)
        }
        return table
    }

    /// The way to the buttons, which need the whole number in the page.
    static func remarks(_ rows: [BrandNumbers.NumberRow], _ request: OperatorRequest) -> [String] {
        rows.isEmpty || request.page.showsNumbers ? [] : ["Show numbers adds a button that removes a number."]
    }

    private static func action(_ row: BrandNumbers.NumberRow, _ account: OperatorRequest.Account) -> PageTable.Cell {
        guard row.state != .inactive else { return .text(nil) }
        return PageTable.Cell(
            cellForm: .init(
                account.path + "/numbers/remove",
                ["number": row.number, "id": row.brandID, "version": row.version.text],
                button: "Remove"))
    }
}
