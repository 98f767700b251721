// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import HTTPTypes
import WebPages

/// Lists, uploads and removes logos.
struct LogoPages: Sendable {
    let desk: PageDesk
    let logos: ServedLogos
    /// The folder of logo files; nil for none.
    let folder: String?
    let pending: PendingFiles<NewPicture>
    let intake: LogoIntake

    /// The pictures that a form takes, in words and as media types.
    static let formats = "PNG, JPEG, WebP, GIF, AVIF or HEIC, at most 5 MiB"
    static let types = "image/png,image/jpeg,image/webp,image/gif,image/avif,image/heic,image/heif"

    var pages: [Page] {
        [
            desk.page(.get, "/logos", entry: "Logos") { try await list($0, name: "", problem: nil) },
            desk.page(.get, "/picture") { try await picture($0) },
            desk.page(.post, "/logo-file", limit: LogoIntake.limit + 64 * 1024) { try await receive($0) },
            desk.page(.get, "/logo-upload/:upload") { try await preview($0) },
            desk.page(.get, "/logo-upload/:upload/picture") { request in
                let (_, upload) = try find(request)
                return .file(bytes: Array(upload.picture.data), type: upload.picture.type)
            },
            desk.page(.post, "/logo-upload/:upload") { try await confirm($0) },
            desk.page(.get, "/logo-removal") { try await askRemoval($0) },
            desk.page(.post, "/logo-removal") { try await remove($0) },
        ]
    }

    /// The path of a logo's picture.
    static func picture(_ name: String) -> String { PagePath.with("/picture", ["name": name]) }

    private func list(_ request: OperatorRequest, name: String, problem: (field: String, text: String)?)
        async throws -> PageResult
    {
        let (database, folder) = (request.database, folder)
        let (logos, files) = try await request.blocking {
            (
                try LogoStore(database).all(),
                folder.map { LogoFolder(path: $0).files(known: [:])?.keys.sorted() ?? [] } ?? []
            )
        }
        var table = PageTable(
            "Uploaded logos", ["Logo", "Type", "Size", "Uploaded", "Action"], empty: "No logo was uploaded yet.")
        for logo in logos {
            table.add(
                PageTable.Cell(
                    cellText: logo.name, cellPicture: .init(source: Self.picture(logo.name), pictureText: "")),
                .text(logo.type), .text(Amount.bytes(Int64(logo.size))), request.time(logo.created),
                .links(PageLink(href: PagePath.with("/logo-removal", ["name": logo.name]), linkText: "Remove…")))
        }
        let file = EntryForm(
            "/logo-file",
            [
                Self.with(
                    problem,
                    .file(
                        "file", "Picture", hint: "\(Self.formats); metadata is removed", accepts: Self.types,
                        isRequired: true)),
                Self.with(
                    problem,
                    .text(
                        "name", "Name", name, hint: "as in the brand's logo, such as acme-256x256.png", isRequired: true
                    )),
            ], button: "Preview")
        var parts = [PagePart(table: table), PagePart(heading: "Upload a logo", form: file)]
        if let folder {
            var rows = PageTable("Files in \(folder)", ["Logo"], empty: "This folder has no logo, or cannot be read.")
            let uploaded = Set(logos.map(\.name))
            for file in files.prefix(200) where !uploaded.contains(file) {
                rows.add(
                    PageTable.Cell(cellText: file, cellPicture: .init(source: Self.picture(file), pictureText: "")))
            }
            parts.append(PagePart(table: rows))
        }
        return OperatorRequest.result("Logos", parts: parts, status: problem == nil ? .ok : .unprocessableContent)
    }

    private static func with(_ problem: (field: String, text: String)?, _ field: FormField) -> FormField {
        guard let problem, problem.field == field.fieldName else { return field }
        var field = field
        field.fieldProblem = problem.text
        return field
    }

    private func picture(_ request: OperatorRequest) async throws -> PageResult {
        let name = request.page.query("name") ?? ""
        guard let logo = try await LogoRoute(store: LogoStore(desk.database), folder: folder).find(name) else {
            throw PageProblem(.notFound, "There is no such logo.")
        }
        return .file(bytes: Array(logo.data), type: logo.type)
    }

    private func receive(_ request: OperatorRequest) async throws -> PageResult {
        let name = request.form["name"]
        func refused(_ field: String, _ text: String) async throws -> PageResult {
            try await list(request, name: name, problem: (field, text))
        }
        guard LogoRules.isPlainName(name) else {
            return try await refused("name", PageDesk.sentence(LogoStoreError.badName))
        }
        guard let file = request.form.file("file") else { return try await refused("file", "Choose a picture.") }
        do {
            return .redirect(to: "/logo-upload/" + pending.add(try await NewPicture(file, name: name, intake)))
        } catch let error as LogoIntakeError {
            return try await refused("file", PageDesk.sentence(error))
        }
    }

    private func find(_ request: OperatorRequest) throws -> (id: String, upload: NewPicture) {
        let id = request.page.pathPart("upload")
        guard let upload = pending.find(id) else {
            throw PageProblem(
                .notFound, "This preview was used already, or an hour has passed. Send the picture again.")
        }
        return (id, upload)
    }

    private func preview(_ request: OperatorRequest) async throws -> PageResult {
        let (id, upload) = try find(request)
        let database = request.database
        let isKnown = try await request.blocking {
            try LogoStore(database).all().contains { $0.name == upload.name }
        }
        var part = PagePart(
            picture: .init(source: "/logo-upload/\(id)/picture", pictureText: "The new logo \(upload.name)"),
            form: EntryForm("/logo-upload/" + id, [], button: "Use as \(upload.name)", cancel: "/logos"))
        part.texts = [
            "\(upload.picture.type), \(upload.picture.width) by \(upload.picture.height) pixels, \(Amount.bytes(Int64(upload.picture.data.count))), as \(upload.name). Phones show it about as large as the second or third picture."
        ]
        if isKnown {
            part.notices = [
                .warning("It replaces the present \(upload.name). Numbers with this logo are delivered again.")
            ]
        }
        return OperatorRequest.result("Preview of the logo", parts: [part])
    }

    private func confirm(_ request: OperatorRequest) async throws -> PageResult {
        let (id, upload) = try find(request)
        let (database, now) = (request.database, request.now)
        try await request.blocking {
            _ = try LogoStore(database).add(
                upload.picture.data, name: upload.name, thumbnail: upload.picture.thumbnail, now: now)
        }
        pending.remove(id)
        await logos.round()
        return .redirect(to: "/logos", notice: PageNotice(.done, "\(upload.name) is ready for brands."))
    }

    private func askRemoval(_ request: OperatorRequest) async throws -> PageResult {
        let name = request.page.query("name") ?? ""
        let part = PagePart(
            texts: ["A logo that a brand or a number uses is not removed."],
            picture: .init(source: Self.picture(name), pictureText: name),
            form: EntryForm(
                "/logo-removal", [.hidden("name", name)], button: "Remove \(name)", isDanger: true, cancel: "/logos"))
        return OperatorRequest.result("Remove \(name)?", parts: [part])
    }

    private func remove(_ request: OperatorRequest) async throws -> PageResult {
        let (database, name) = (request.database, request.form["name"])
        do {
            try await request.blocking { try LogoStore(database).remove(name) }
        } catch let error as LogoStoreError {
            return .redirect(to: "/logos", notice: PageNotice(.error, PageDesk.sentence(error)))
        }
        await logos.round()
        return .redirect(to: "/logos", notice: PageNotice(.done, "\(name) is removed."))
    }
}
