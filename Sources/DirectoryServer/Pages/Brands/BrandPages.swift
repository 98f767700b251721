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
    let logos: ServedLogos
    /// New pictures of forms that are not saved.
    let pending: PendingFiles<NewPicture>
    let intake: LogoIntake

    /// The largest form in bytes: a picture and the fields.
    private static let formLimit = LogoIntake.limit + 128 * 1024

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/brands") { try await list($0) },
            desk.page(.post, "/accounts/:account/brands", limit: Self.formLimit) { try await add($0) },
            desk.page(.post, "/accounts/:account/brands/preview", limit: Self.formLimit) { request in
                let (account, form) = (try await request.account(), try await read(request, isNew: true))
                return try await new(request, account, form, notice: Self.previewed(form))
            },
            desk.page(.get, "/accounts/:account/new-brand") { request in
                try await new(request, try await request.account(), BrandForm())
            },
            desk.page(.get, "/accounts/:account/brand") { request in
                let (account, brand) = try await find(request, request.page.query("id") ?? "")
                return try await show(request, account, brand)
            },
            desk.page(.post, "/accounts/:account/brand", limit: Self.formLimit) { try await change($0) },
            desk.page(.post, "/accounts/:account/brand/preview", limit: Self.formLimit) { request in
                let (account, brand) = try await find(request, request.form["id"])
                let form = try await read(request, isNew: false)
                return try await show(request, account, brand, form: form, notice: Self.previewed(form))
            },
            desk.page(.post, "/accounts/:account/brand/numbers", limit: 256 * 1024) { try await addNumbers($0) },
            desk.page(.get, "/accounts/:account/brand/remove") { try await askRemove($0, $0.page.query("id") ?? "") },
            desk.page(.post, "/accounts/:account/brand/remove") { try await remove($0) },
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
        parts.append(PagePart(table: Self.table(brands, account, request, isSearch: !text.isEmpty)))
        if brands.count == OperatorRequest.rows, let last = brands.last {
            let next = PagePath.with(
                account.path + "/brands", ["q": text.isEmpty ? nil : text, "after": last.id])
            parts.append(.links(PageLink(href: next, linkText: "Next page")))
        }
        return request.result("Brands", of: account, tab: "/brands", parts: parts)
    }

    private static func table(
        _ brands: [BrandList.Brand], _ account: OperatorRequest.Account, _ request: OperatorRequest, isSearch: Bool
    ) -> PageTable {
        var table = PageTable(
            "Brands", ["Name", "Identifier", "Logo", "Owner", "#Numbers", "Changed"],
            empty: isSearch
                ? "No brand has this in its name or identifier." : "No brand yet. Make one, or import a file.")
        for brand in brands {
            table.add(
                .link(brand.name, PagePath.with(account.path + "/brand", ["id": brand.id])), .text(brand.id),
                logo(brand.logo), .tag(brand.owner.rawValue, brand.owner == .active ? "good" : "warn"),
                .count(brand.numbers ?? 0), request.time(brand.updated))
        }
        return table
    }

    private static func logo(_ name: String?) -> PageTable.Cell {
        guard let name, LogoRules.isPlainName(name) else { return .text(name) }
        return PageTable.Cell(cellText: name, cellPicture: .init(source: LogoPages.picture(name), pictureText: ""))
    }

    private func new(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ form: BrandForm,
        status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
    ) async throws -> PageResult {
        var part = PagePart(form: form.form(account, known: try await known(request)))
        part.phone = form.card(number: nil)
        return request.result(
            "New brand", of: account, tab: "/brands", parts: [part], status: status, notice: notice)
    }

    /// The names of the uploaded logos, the newest first.
    private func known(_ request: OperatorRequest) async throws -> [String] {
        let database = request.database
        return try await request.blocking {
            try LogoStore(database).all().sorted { ($0.created, $1.name) > ($1.created, $0.name) }.map(\.name)
        }
    }

    /// The fields of a form with their problems; a new picture is kept until the form is saved.
    private func read(_ request: OperatorRequest, isNew: Bool) async throws -> BrandForm {
        var form = BrandForm(request.form, isNew: isNew)
        var problem: String?
        if let file = request.form.file("logo_file") {
            do {
                form.logo.take(upload: pending.add(try await NewPicture(file, intake)))
            } catch let error as LogoIntakeError {
                problem = PageDesk.sentence(error)
            }
        } else if let upload = form.logo.upload, pending.find(upload) == nil {
            problem = "The new picture was forgotten after an hour. Choose it again."
        }
        form.check()
        form.problems["logo_file"] = problem
        return form
    }

    private static func previewed(_ form: BrandForm) -> PageNotice {
        form.problems.isEmpty
            ? PageNotice(.warning, "This is a preview. Nothing is saved yet.")
            : PageNotice(.error, "Nothing is saved. Correct the marked fields.")
    }

    private func add(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        var form = try await read(request, isNew: true)
        if form.problems.isEmpty {
            do {
                let (database, id, now, asked) = (request.database, account.id, request.now, form)
                let brand = try await withLogo(of: form, brand: form.id.isEmpty ? form.name : form.id, request) {
                    logo in
                    try BrandList(database, account: id).create(
                        id: asked.id.isEmpty ? nil : asked.id, asked.change(from: nil, logo: logo), now: now)
                }
                return .redirect(
                    to: PagePath.with(account.path + "/brand", ["id": brand.id]),
                    notice: PageNotice(.done, "The brand is ready. Add its numbers next."))
            } catch let error as BrandListError {
                form.problems["brand_id"] = PageDesk.sentence(error)
            }
        }
        return try await new(request, account, form, status: .unprocessableContent)
    }

    /// Stores the new picture of a form, then the brand that names it.
    ///
    /// - Parameter body: gets the logo for the brand; if it fails, no new picture stays behind.
    private func withLogo(
        of form: BrandForm, brand: String, _ request: OperatorRequest,
        _ body: @escaping @Sendable (_ logo: String) throws -> BrandList.Brand
    ) async throws -> BrandList.Brand {
        guard let upload = form.logo.upload else {
            let logo = form.logo.text ?? ""
            return try await request.blocking { try body(logo) }
        }
        guard let picture = pending.find(upload) else {
            throw PageProblem(.gone, "The new picture was forgotten after an hour. Nothing was saved. Choose it again.")
        }
        let (name, database, now) = (picture.name(for: brand), request.database, request.now)
        let saved = try await request.blocking {
            let store = LogoStore(database)
            let isKnown = try store.all().contains { $0.name == name }
            _ = try store.add(
                picture.picture.data, name: name, thumbnail: picture.picture.thumbnail, now: now)
            do {
                return try body(name)
            } catch {
                if !isKnown { try? store.remove(name) }
                throw error
            }
        }
        pending.remove(upload)
        await logos.round()
        return saved
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
        form: BrandForm? = nil, conflict: EditConflict? = nil, numbers: NumberLines = NumberLines(),
        status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
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
        let entry = form ?? BrandForm(brand)
        var first = PagePart(form: entry.form(account, known: try await known(request)))
        if let missing { first.notices = [.warning(PageDesk.sentence(missing))] }
        first.phone = entry.card(number: rows.first.map { request.shown($0.number) })
        var list = PagePart(
            heading: "Numbers", texts: NumberSearch.remarks(rows, request),
            table: NumberSearch.table(
                "Numbers of \(brand.name)", rows, account, request, empty: "This brand has no number yet."))
        if rows.count == OperatorRequest.rows, let last = rows.last {
            let next = PagePath.with(account.path + "/brand", ["id": brand.id, "after": NumberSearch.position(last)])
            list.linkList = .init(links: [PageLink(href: next, linkText: "Next numbers")])
        }
        let remove = PagePath.with(account.path + "/brand/remove", ["id": brand.id])
        let parts =
            [
                conflict?.part(page: PagePath.with(account.path + "/brand", ["id": brand.id])), first, list,
                PagePart(
                    heading: "Add numbers",
                    form: numbers.form(account.path + "/brand/numbers", brand: .hidden("id", brand.id))),
                numbers.report,
                .links(PageLink(href: remove, linkText: "Remove this brand…")),
            ].compactMap { $0 }
        return request.result(
            brand.name, of: account, tab: "/brands", parts: parts, status: status, notice: notice)
    }

    private func change(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.form["id"])
        let form = try await read(request, isNew: false)
        guard form.problems.isEmpty else {
            return try await show(request, account, brand, form: form, status: .unprocessableContent)
        }
        let (database, id, now) = (request.database, account.id, request.now)
        do {
            let changed = try await withLogo(of: form, brand: brand.id, request) { logo in
                try BrandList(database, account: id).change(
                    brand.id, form.change(from: brand, logo: logo), if: .from(form.version), now: now)
            }
            let text = "Saved. \(Amount.count(changed.numbers ?? 0)) numbers are delivered with it by the next sync."
            return .redirect(
                to: PagePath.with(account.path + "/brand", ["id": brand.id]), notice: PageNotice(.done, text))
        } catch is VersionConflict {
            return try await moved(request, form)
        }
    }

    /// The form of a person whose brand another one has changed: nothing is saved, and both values are shown.
    private func moved(_ request: OperatorRequest, _ asked: BrandForm) async throws -> PageResult {
        let (account, brand) = try await find(request, asked.id)
        var form = asked
        let conflict = form.compare(with: brand)
        return try await show(
            request, account, brand, form: form, conflict: conflict, status: .conflict,
            notice: EditConflict.notice("this brand"))
    }

    private func addNumbers(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.form["id"])
        let addition = try await NumberAddition(request, account, brand)
        guard addition.isComplete else {
            return try await show(
                request, account, brand, numbers: addition.lines, status: .unprocessableContent,
                notice: addition.notice)
        }
        return .redirect(to: PagePath.with(account.path + "/brand", ["id": brand.id]), notice: addition.notice)
    }

    private func askRemove(
        _ request: OperatorRequest, _ id: String, status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
    ) async throws -> PageResult {
        let (account, brand) = try await find(request, id)
        let back = PagePath.with(account.path + "/brand", ["id": brand.id])
        let form = EntryForm(
            account.path + "/brand/remove", [.hidden("id", brand.id), .hidden("version", brand.version.text)],
            button: "Remove \(brand.name)", isDanger: true, cancel: back)
        let text =
            "\(Amount.count(brand.numbers ?? 0)) numbers of \(brand.name) ring without a brand from the next sync on. The brand stays for events and reports."
        return request.result(
            "Remove \(brand.name)?", of: account, tab: "/brands",
            parts: [PagePart(texts: [text], form: form)], status: status, notice: notice)
    }

    private func remove(_ request: OperatorRequest) async throws -> PageResult {
        let (account, brand) = try await find(request, request.form["id"])
        let (database, id, now) = (request.database, account.id, request.now)
        let condition = VersionCondition.from(request.form["version"])
        let count: Int
        do {
            count = try await request.blocking {
                try BrandList(database, account: id).deactivate(brand.id, if: condition, now: now)
            }
        } catch is VersionConflict {
            return try await askRemove(
                request, brand.id, status: .conflict, notice: EditConflict.notice("this brand"))
        }
        return .redirect(
            to: PagePath.with(account.path + "/brand", ["id": brand.id]),
            notice: PageNotice(
                .done, "\(brand.name) is removed from \(Amount.count(count)) number\(count == 1 ? "" : "s")."))
    }
}
