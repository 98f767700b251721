// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import HTTPTypes
import WebPages

/// Lists, finds, creates and changes brands.
struct BrandPages: Sendable {
    let desk: PageDesk
    /// The location of logo files that were not uploaded.
    let place: LogoCheck.Place

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/brands") { try await list($0) },
            desk.page(.post, "/accounts/:account/brands") { try await create($0) },
            desk.page(.get, "/accounts/:account/new-brand") { try await new($0) },
            desk.page(.get, "/accounts/:account/brand") { request in
                let (account, brand) = try await find(request, request.page.query("id") ?? "")
                return try await show(request, account, brand)
            },
            desk.page(.post, "/accounts/:account/brand") { try await change($0) },
            desk.page(.post, "/accounts/:account/brand/number") { try await addNumber($0) },
            desk.page(.get, "/accounts/:account/brand/deactivate") { try await askDeactivate($0) },
            desk.page(.post, "/accounts/:account/brand/deactivate") { try await deactivate($0) },
        ]
    }

    private func list(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (text, after) = (request.page.query("q") ?? "", request.page.query("after"))
        let search = EntryForm(
            account.path + "/brands",
            [
                .text(
                    "q", "Name or number", text, hint: "part of a name, or the first digits of a number", type: "search"
                )
            ],
            button: "Search", isGet: true)
        var parts = [
            PagePart(
                form: search,
                linkList: .init(links: [
                    PageLink(href: account.path + "/new-brand", linkText: "New brand"),
                    PageLink(href: account.path + "/import", linkText: "Import a file"),
                ]))
        ]
        if let digits = NumberSearch.digits(of: text) {
            parts.append(try await NumberSearch.part(request, account, digits))
        }
        let (database, id) = (request.database, account.id)
        let brands = try await request.blocking {
            let list = BrandList(database, account: id)
            let found =
                try text.isEmpty
                ? list.page(after: after, limit: OperatorRequest.rows)
                : list.page(containing: text, after: after, limit: OperatorRequest.rows)
            return try found.map { try list.brand($0.id) }
        }
        parts.append(PagePart(table: Self.table(brands, account, isSearch: !text.isEmpty)))
        if brands.count == OperatorRequest.rows, let last = brands.last {
            let next = PagePath.with(
                account.path + "/brands", ["q": text.isEmpty ? nil : text, "after": last.id])
            parts.append(.links(PageLink(href: next, linkText: "Next page")))
        }
        return request.result("Brands", of: account, tab: "/brands", parts: parts)
    }

    private static func table(
        _ brands: [BrandList.Brand], _ account: OperatorRequest.Account, isSearch: Bool
    ) -> PageTable {
        var table = PageTable(
            "Brands", ["Name", "Identifier", "Logo", "Owner", "#Numbers", "Changed"],
            empty: isSearch
                ? "No brand has this in its name or identifier." : "No brand yet. Make one, or import a file.")
        for brand in brands {
            table.add(
                .link(brand.name, PagePath.with(account.path + "/brand", ["id": brand.id])), .text(brand.id),
                logo(brand.logo), .tag(brand.owner.rawValue, brand.owner == .active ? "good" : "warn"),
                .count(brand.numbers ?? 0), .text(Amount.time(brand.updated)))
        }
        return table
    }

    private static func logo(_ name: String?) -> PageTable.Cell {
        guard let name, LogoRules.isPlainName(name) else { return .text(name) }
        return PageTable.Cell(cellText: name, cellPicture: .init(source: LogoPages.picture(name), pictureText: ""))
    }

    private func new(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let form = try await BrandForm().form(account, request, button: "Create brand")
        return request.result("New brand", of: account, tab: "/brands", parts: [PagePart(form: form)])
    }

    private func create(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        var form = BrandForm(request.form)
        form.check(isNew: true)
        if form.problems.isEmpty {
            do {
                let (database, id, now, asked) = (request.database, account.id, request.now, form)
                let brand = try await request.blocking {
                    try BrandList(database, account: id).create(
                        id: asked.id.isEmpty ? nil : asked.id, asked.change(from: nil), now: now)
                }
                return .redirect(
                    to: PagePath.with(account.path + "/brand", ["id": brand.id]),
                    notice: PageNotice(.done, "The brand is ready. Add its numbers next."))
            } catch let error as BrandListError {
                form.problems["brand_id"] = PageDesk.sentence(error)
            }
        }
        let again = try await form.form(account, request, button: "Create brand")
        return request.result(
            "New brand", of: account, tab: "/brands", parts: [PagePart(form: again)], status: .unprocessableContent)
    }

    private func find(
        _ request: OperatorRequest, _ brand: String
    ) async throws -> (OperatorRequest.Account, BrandList.Brand) {
        let account = try await request.account()
        let (database, id) = (request.database, account.id)
        return (account, try await request.blocking { try BrandList(database, account: id).brand(brand) })
    }

    private func show(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ brand: BrandList.Brand,
        form: BrandForm? = nil, number: NumberForm = NumberForm(), status: HTTPResponse.Status = .ok
    ) async throws -> PageResult {
        let (database, id, place) = (request.database, account.id, place)
        let after = NumberSearch.position(request)
        let (rows, missing) = try await request.blocking {
            (
                try BrandNumbers(database, account: id).page(
                    after: after, limit: OperatorRequest.rows, brandID: brand.id),
                try LogoCheck(database, in: place).problem(of: brand.logo)
            )
        }
        let entry = try await (form ?? BrandForm(brand)).form(account, request, button: "Save brand")
        var first = PagePart(form: entry)
        if let missing { first.notices = [.warning(PageDesk.sentence(missing))] }
        if let logo = brand.logo, LogoRules.isPlainName(logo), missing == nil {
            first.picture = .init(source: LogoPages.picture(logo), pictureText: "Logo of \(brand.name)")
        }
        var numbers = PagePart(
            heading: "Numbers",
            table: NumberSearch.table(
                "Numbers of \(brand.name)", rows, account, request, empty: "This brand has no number yet."))
        if rows.count == OperatorRequest.rows, let last = rows.last {
            let next = PagePath.with(account.path + "/brand", ["id": brand.id, "after": NumberSearch.position(last)])
            numbers.linkList = .init(links: [PageLink(href: next, linkText: "Next numbers")])
        }
        let deactivate = PagePath.with(account.path + "/brand/deactivate", ["id": brand.id])
        let parts = [
            first, numbers,
            PagePart(heading: "Add a number", form: number.form(account.path + "/brand/number", brand: brand.id)),
            .links(PageLink(href: deactivate, linkText: "Take all numbers out of service…")),
        ]
        return request.result(brand.name, of: account, tab: "/brands", parts: parts, status: status)
    }

    private func change(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.form["id"])
        var form = BrandForm(request.form)
        form.isNew = false
        form.check(isNew: false)
        guard form.problems.isEmpty else {
            return try await show(request, account, brand, form: form, status: .unprocessableContent)
        }
        let (database, id, now, change) = (request.database, account.id, request.now, form.change(from: brand))
        let changed = try await request.blocking {
            try BrandList(database, account: id).change(brand.id, change, now: now)
        }
        let text = "Saved. \(Amount.count(changed.numbers ?? 0)) numbers are delivered with it by the next sync."
        return .redirect(
            to: PagePath.with(account.path + "/brand", ["id": brand.id]), notice: PageNotice(.done, text))
    }

    private func addNumber(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.form["id"])
        var form = NumberForm(request.form)
        if let number = form.number() {
            let (database, id, now, reason) = (request.database, account.id, request.now, form.reason)
            let before = try await request.blocking {
                let numbers = BrandNumbers(database, account: id)
                let before = try numbers.find(number)
                try numbers.set(number, brandID: brand.id, reason: reason.isEmpty ? nil : reason, now: now)
                return before
            }
            var text = "\(request.shown("\(number)")) rings as \(brand.name) from the next sync on."
            if let before, before.brandID != brand.id, before.state != .inactive {
                text += " It was a number of \(before.name)."
            }
            return .redirect(
                to: PagePath.with(account.path + "/brand", ["id": brand.id]), notice: PageNotice(.done, text))
        }
        return try await show(request, account, brand, number: form, status: .unprocessableContent)
    }

    private func askDeactivate(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.page.query("id") ?? "")
        let back = PagePath.with(account.path + "/brand", ["id": brand.id])
        let form = EntryForm(
            account.path + "/brand/deactivate", [.hidden("id", brand.id)], button: "Take out of service",
            isDanger: true, cancel: back)
        let text =
            "\(Amount.count(brand.numbers ?? 0)) numbers of \(brand.name) ring without a brand from the next sync on. The brand stays."
        return request.result(
            "Take all numbers of \(brand.name) out of service?", of: account, tab: "/brands",
            parts: [PagePart(texts: [text], form: form)])
    }

    private func deactivate(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.form["id"])
        let (database, id, now) = (request.database, account.id, request.now)
        let count = try await request.blocking {
            try BrandList(database, account: id).deactivate([brand.id], now: now)
        }
        return .redirect(
            to: PagePath.with(account.path + "/brand", ["id": brand.id]),
            notice: PageNotice(.done, "\(Amount.count(count)) numbers are out of service."))
    }
}
