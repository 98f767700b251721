// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import Foundation
import HTTPTypes
import Host
import Primitives
import WebPages

/// Imports a file of brands in two steps: a preview of its changes, then exactly these changes.
struct ImportPages: Sendable {
    let desk: PageDesk
    /// The location of logo files that were not uploaded.
    let place: LogoCheck.Place
    let pending: PendingFiles<ImportWork>
    /// The time for which a response waits for the end of the work; a page of progress follows.
    let patience: Duration
    private let slots = ImportSlots()

    init(desk: PageDesk, place: LogoCheck.Place, pending: PendingFiles<ImportWork>, patience: Duration) {
        (self.desk, self.place, self.pending, self.patience) = (desk, place, pending, patience)
    }

    /// The largest file in bytes; longer ones go through the command or the API.
    static let fileLimit = 16 << 20
    static let textLimit = 4 << 20

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/import") { request in
                try await start(request, try await request.account(), ImportForm(), problem: nil)
            },
            desk.page(.post, "/accounts/:account/import/file", limit: Self.fileLimit + 64 * 1024) { request in
                try await receive(request, request.form.file("file")?.bytes ?? [], ImportForm(request.form))
            },
            desk.page(.post, "/accounts/:account/import/text", limit: Self.textLimit) { request in
                try await receive(request, Array(request.form["text"].utf8), ImportForm(request.form))
            },
            desk.page(.get, "/accounts/:account/import/:preview") { try await show($0) },
            desk.page(.get, "/accounts/:account/import/:preview/progress") { request in
                let (account, id, work) = try await find(request)
                return .live(ImportProgressPage.live(work, path: account.path + "/import/" + id))
            },
            desk.page(.get, "/accounts/:account/import/:preview/rejected.csv") { try await rejected($0) },
            desk.page(.post, "/accounts/:account/import/:preview") { try await confirm($0) },
            desk.page(.post, "/accounts/:account/import/:preview/region") { try await readAgain($0) },
            desk.page(.post, "/accounts/:account/import/:preview/cancel") { request in
                let (account, id, work) = try await find(request)
                guard work.cancel() else {
                    throw PageProblem(
                        .conflict,
                        "The changes are being made already and cannot be cancelled. The brands show the result.")
                }
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
            "CSV with the header number,brand_name,logo_url,call_reason,brand_id in any order; number and brand_name are required. Or JSON lines. The next page shows what would change and the invalid lines; nothing is written before you confirm."
        var parts = [
            PagePart(texts: [lead]),
            PagePart(
                heading: "From a file",
                form: EntryForm(
                    account.path + "/import/file",
                    [
                        .file(
                            "file", "File", hint: "at most 16 MiB; larger files: herald-directory import",
                            isRequired: true)
                    ]
                        + form.fields(), button: "Preview")),
            PagePart(
                heading: "As text",
                form: EntryForm(
                    account.path + "/import/text",
                    [.area("text", "Lines", form.text, problem: form.problems["text"])] + form.fields(),
                    button: "Preview the lines")),
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
        guard slots.take() else { throw Self.busy }
        do {
            try await request.blocking {
                let file = FileHandle(fileDescriptor: try PrivateFile.create(path), closeOnDealloc: true)
                try file.write(contentsOf: Data(bytes))
            }
        } catch {
            slots.free()
            unlink(path)
            throw error
        }
        let work = ImportWork(
            account: account.id, path: path, region: form.knownRegion, options: form.options)
        let id = pending.add(work, path: path)
        await begin(work, request) { work.end(.previewed(try await preview(work, request), hasMoved: false)) }
        if case .failed(let error) = work.stage {
            pending.remove(id)
            guard let refusal = error as? BrandImportError else { throw error }
            return try await start(request, account, form, problem: PageDesk.sentence(refusal))
        }
        return .redirect(to: account.path + "/import/" + id)
    }

    private static let busy = PageProblem(
        .serviceUnavailable,
        "\(ImportSlots.most) files are being read now. Nothing was changed. Send the file again when they are done.")

    /// Does the work in a slot that is taken; returns at its end, or when the patience is over and the work goes on.
    private func begin(
        _ work: ImportWork, _ request: OperatorRequest, _ body: @escaping @Sendable () async throws -> Void
    ) async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let slots = slots
        Task {
            do { try await body() } catch { work.end(.failed(error)) }
            slots.free()
            end.finish()
        }
        _ = await within(patience) { for await _ in ends {} }
    }

    /// Runs the import without writing.
    private func preview(_ work: ImportWork, _ request: OperatorRequest) async throws -> BrandImport.Result {
        var trial = work.options
        (trial.isTrial, trial.plans) = (true, true)
        return try await run(work, request, trial)
    }

    private func run(
        _ work: ImportWork, _ request: OperatorRequest, _ options: BrandImport.Options
    ) async throws -> BrandImport.Result {
        let (database, place, now) = (request.database, place, desk.now)
        let normaliser = NumberNormaliser(region: work.region)
        return try await request.longWork { turn in
            try BrandImport(
                database, account: work.account, region: work.region.map { "\($0)" }, logos: place, turn: turn,
                onProgress: { try work.advance(to: $0) }
            ) {
                normaliser.normalise(Array($0.utf8))
            }.run(path: work.path, options, now: now())
        }
    }

    private func find(
        _ request: OperatorRequest
    ) async throws -> (account: OperatorRequest.Account, id: String, work: ImportWork) {
        let account = try await request.account()
        let id = request.page.pathPart("preview")
        guard let work = pending.find(id), work.account == account.id else {
            throw PageProblem(
                .notFound,
                """
                This import is over: it was used or cancelled, an hour has passed, or the server was restarted. Only confirmed \
                changes were made, and the brands show them. Send the file again if they are missing.
                """)
        }
        return (account, id, work)
    }

    /// The present stage of an import.
    private func show(_ request: OperatorRequest) async throws -> PageResult {
        let (account, id, work) = try await find(request)
        switch work.stage {
        case .reading, .importing:
            return ImportProgressPage(request: request, account: account, id: id, work: work).page()
        case .previewed(let result, let hasMoved):
            return ImportPreview(request: request, account: account, id: id, result: result).page(hasMoved: hasMoved)
        case .imported(let result):
            let text =
                "Imported: \(Amount.count(result.imported)) number\(result.imported == 1 ? "" : "s") added or changed, \(Amount.count(result.deactivated)) removed, \(Amount.count(result.unchanged)) unchanged."
            guard result.rejected == 0 else {
                // The report stays for an hour; the file is done with.
                unlink(work.path)
                return ImportPreview(request: request, account: account, id: id, result: result).report(text)
            }
            pending.remove(id)
            return .redirect(to: account.path + "/brands", notice: PageNotice(.done, text))
        case .failed(let error):
            pending.remove(id)
            guard let refusal = error as? BrandImportError else { throw error }
            return try await start(request, account, ImportForm(), problem: PageDesk.sentence(refusal))
        }
    }

    private func confirm(_ request: OperatorRequest) async throws -> PageResult {
        let (account, id, work) = try await find(request)
        guard slots.take() else { throw Self.busy }
        guard let digest = work.confirm() else {
            slots.free()
            guard case .previewed = work.stage else { return .redirect(to: account.path + "/import/" + id) }
            throw PageProblem(
                .conflict, "The file has invalid lines. Nothing was changed. Correct it and send it again.")
        }
        await begin(work, request) {
            var options = work.options
            options.expectedPlan = digest
            do {
                work.end(.imported(try await run(work, request, options)))
            } catch BrandImportError.moved {
                work.end(.previewed(try await preview(work, request), hasMoved: true))
            }
        }
        if work.stage.progress != nil { return .redirect(to: account.path + "/import/" + id) }
        return try await show(request)
    }

    /// Reads the file again with a region for its national numbers.
    private func readAgain(_ request: OperatorRequest) async throws -> PageResult {
        let (account, id, work) = try await find(request)
        guard case .previewed(let result, _) = work.stage else {
            return .redirect(to: account.path + "/import/" + id)
        }
        guard let region = Region(request.form["region"].uppercased()) else {
            return ImportPreview(request: request, account: account, id: id, result: result)
                .page(regionProblem: "A region is two letters, such as AU or DE.")
        }
        guard slots.take() else { throw Self.busy }
        let again = ImportWork(account: work.account, path: work.path, region: region, options: work.options)
        pending.replace(id, by: again)
        await begin(again, request) { again.end(.previewed(try await preview(again, request), hasMoved: false)) }
        return .redirect(to: account.path + "/import/" + id)
    }

    /// The invalid lines of a file as CSV.
    private func rejected(_ request: OperatorRequest) async throws -> PageResult {
        let (_, _, work) = try await find(request)
        let problems: [BrandImport.Problem] =
            switch work.stage {
            case .previewed(let result, _), .imported(let result): result.problems
            case .reading, .importing, .failed: []
            }
        let header = CSVLine.shown(["line", "column", "reason"])
        let text = problems.reduce(into: header) { text, problem in
            let cells = ["\(problem.line)", problem.column ?? "", ImportPreview.shown(problem.reason, request)]
            text += CSVLine.shown(cells)
        }
        return .file(bytes: Array(text.utf8), type: "text/csv; charset=utf-8", name: "rejected-lines.csv")
    }
}

/// The choices of an import.
struct ImportForm: Sendable {
    var text = ""
    private var region = ""
    private var replaces = false
    private(set) var knownRegion: Region?
    private(set) var problems: [String: String] = [:]

    init() {}

    init(_ form: PageForm) {
        (text, region, replaces) = (form["text"], form["region"], form.isTicked("replace"))
    }

    /// Valid lines are imported without the others, unless a replacement would remove the numbers of the others.
    var options: BrandImport.Options {
        var options = BrandImport.Options()
        (options.replaces, options.skipsInvalid) = (replaces, !replaces)
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
        return problems.isEmpty
    }

    func fields() -> [FormField] {
        [
            .text(
                "region", "Region", region, hint: "two letters, for national numbers such as 0491 570 156",
                problem: problems["region"]),
            .tick(
                "replace", "Replace all numbers", replaces,
                hint: "numbers that are missing in the file are removed; all lines must be valid"),
        ]
    }
}
