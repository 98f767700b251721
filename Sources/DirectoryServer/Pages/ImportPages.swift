// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import Foundation
import HTTPTypes
import HostFiles
import WebPages

/// Imports a file of brands in two steps: a preview of its changes, then exactly these changes.
struct ImportPages: Sendable {
    let desk: PageDesk
    /// The location of logo files that were not uploaded.
    let place: LogoCheck.Place
    let pending: PendingFiles<Preview>

    /// The largest file in bytes; longer ones go through the command or the API.
    static let fileLimit = 16 << 20
    static let textLimit = 4 << 20

    /// A file that waits for its confirmation, and the changes that its page shows.
    struct Preview: Sendable {
        let account: AccountID
        let path: String
        let bytes: Int
        let region: Region?
        let options: BrandImport.Options
        let result: BrandImport.Result
    }

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/import") { request in
                try await start(request, try await request.account(), ImportForm(), problem: nil)
            },
            desk.page(.post, "/accounts/:account/import/file", limit: Self.fileLimit, takesFile: true) { request in
                try await receive(request, request.form.body, ImportForm(query: request.page))
            },
            desk.page(.post, "/accounts/:account/import/text", limit: Self.textLimit) { request in
                try await receive(request, Array(request.form["text"].utf8), ImportForm(request.form))
            },
            desk.page(.get, "/accounts/:account/import/:preview") { request in
                let (account, id, preview) = try await find(request)
                return ImportPreview(request: request, account: account, id: id, preview: preview).page()
            },
            desk.page(.post, "/accounts/:account/import/:preview") { try await confirm($0) },
            desk.page(.post, "/accounts/:account/import/:preview/cancel") { request in
                let (account, id, _) = try await find(request)
                pending.remove(id)
                return .redirect(
                    to: account.path + "/import", notice: PageNotice(.done, "Nothing was imported."))
            },
        ]
    }

    private func start(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ form: ImportForm, problem: String?
    ) async throws -> PageResult {
        let lead =
            "CSV with the header number,brand_name,logo_url,call_reason,brand_id in any order; number and brand_name are required. Or JSON lines. The next page shows what would change; nothing is written before you confirm."
        var parts = [
            PagePart(texts: [lead]),
            PagePart(
                heading: "From a file",
                form: EntryForm(
                    account.path + "/import",
                    [.file("File", hint: "at most 16 MiB; larger files: herald-directory import")] + form.fields(),
                    button: "Preview", fileTo: account.path + "/import/file")),
            PagePart(
                heading: "As text",
                form: EntryForm(
                    account.path + "/import/text",
                    [.area("text", "Lines", form.text, hint: "works without script", problem: form.problems["text"])]
                        + form.fields(), button: "Preview the lines")),
        ]
        if let problem { parts[0].notices = [.error(problem)] }
        let isGood = problem == nil && form.problems.isEmpty
        return request.result(
            "Import", of: account, tab: "/import", parts: parts, status: isGood ? .ok : .unprocessableContent)
    }

    private func receive(
        _ request: OperatorRequest, _ bytes: [UInt8], _ asked: ImportForm
    ) async throws -> PageResult {
        let account = try await request.account()
        var form = asked
        guard form.check(isEmpty: bytes.isEmpty) else {
            return try await start(request, account, form, problem: form.summary)
        }
        let path = request.database.folder + "/import-\(UUID().uuidString).part"
        do {
            try await request.blocking {
                let file = FileHandle(fileDescriptor: try PrivateFile.create(path), closeOnDealloc: true)
                try file.write(contentsOf: Data(bytes))
            }
            let preview = try await self.preview(
                request, account.id, path: path, bytes: bytes.count, region: form.knownRegion, form.options)
            let id = pending.add(preview, path: path)
            return .redirect(to: account.path + "/import/" + id)
        } catch let error as BrandImportError {
            unlink(path)
            return try await start(request, account, form, problem: PageDesk.sentence(error))
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Runs the import without writing.
    private func preview(
        _ request: OperatorRequest, _ account: AccountID, path: String, bytes: Int, region: Region?,
        _ options: BrandImport.Options
    ) async throws -> Preview {
        var trial = options
        (trial.isTrial, trial.plans) = (true, true)
        let result = try await run(request, account, path: path, region: region, trial)
        return Preview(
            account: account, path: path, bytes: bytes, region: region, options: options, result: result)
    }

    private func run(
        _ request: OperatorRequest, _ account: AccountID, path: String, region: Region?,
        _ options: BrandImport.Options
    ) async throws -> BrandImport.Result {
        let (database, place, now) = (request.database, place, desk.now)
        let normaliser = NumberNormaliser(region: region)
        return try await request.blocking {
            try BrandImport(database, account: account, region: region.map { "\($0)" }, logos: place) {
                normaliser.normalise(Array($0.utf8))
            }.run(path: path, options, now: now())
        }
    }

    private func find(
        _ request: OperatorRequest
    ) async throws -> (account: OperatorRequest.Account, id: String, preview: Preview) {
        let account = try await request.account()
        let id = request.page.pathPart("preview")
        guard let preview = pending.find(id), preview.account == account.id else {
            throw PageProblem(
                .notFound,
                "This preview was used already, or an hour has passed. Nothing was changed. Send the file again.")
        }
        return (account, id, preview)
    }

    private func confirm(_ request: OperatorRequest) async throws -> PageResult {
        let (account, id, preview) = try await find(request)
        guard let plan = preview.result.plan else {
            throw PageProblem(
                .conflict, "The file has invalid lines. Nothing was changed. Correct it and send it again.")
        }
        var options = preview.options
        options.expectedPlan = plan.digest
        do {
            let result = try await run(request, account.id, path: preview.path, region: preview.region, options)
            pending.remove(id)
            let text =
                "Imported: \(Amount.count(result.imported)) numbers added or changed, \(Amount.count(result.deactivated)) taken out of service, \(Amount.count(result.unchanged)) unchanged."
            return .redirect(to: account.path + "/brands", notice: PageNotice(.done, text))
        } catch BrandImportError.moved {
            let again = try await self.preview(
                request, account.id, path: preview.path, bytes: preview.bytes, region: preview.region,
                preview.options)
            pending.replace(id, by: again)
            return ImportPreview(request: request, account: account, id: id, preview: again).page(hasMoved: true)
        }
    }
}

/// The choices of an import.
struct ImportForm: Sendable {
    var text = ""
    private var region = ""
    private var replaces = false
    private var skips = false
    private(set) var knownRegion: Region?
    private(set) var problems: [String: String] = [:]

    init() {}

    init(_ form: PageForm) {
        (text, region) = (form["text"], form["region"])
        (replaces, skips) = (form.isTicked("replace"), form.isTicked("skip"))
    }

    init(query page: PageRequest) {
        region = page.query("region") ?? ""
        (replaces, skips) = (page.query("replace") != nil, page.query("skip") != nil)
    }

    var options: BrandImport.Options {
        var options = BrandImport.Options()
        (options.replaces, options.skipsInvalid) = (replaces, skips)
        return options
    }

    /// All problems in one text.
    var summary: String? {
        problems.isEmpty ? nil : problems.sorted { $0.key < $1.key }.map(\.value).joined(separator: " ")
    }

    mutating func check(isEmpty: Bool) -> Bool {
        if isEmpty { problems["text"] = "There are no lines. Choose a file, or paste its lines." }
        if !region.isEmpty {
            knownRegion = Region(region.uppercased())
            if knownRegion == nil { problems["region"] = "A region is two letters, such as AU or DE." }
        }
        if replaces, skips { problems["skip"] = PageDesk.sentence(BrandImportError.replacesAndSkips) }
        return problems.isEmpty
    }

    func fields() -> [FormField] {
        var skip = FormField.tick("skip", "Skip invalid lines", skips, hint: "else one invalid line stops the import")
        skip.fieldProblem = problems["skip"]
        return [
            .text(
                "region", "Region", region, hint: "two letters, for national numbers such as 0491 570 156",
                problem: problems["region"]),
            .tick(
                "replace", "Replace all numbers", replaces,
                hint: "numbers that are missing in the file go out of service"), skip,
        ]
    }
}
