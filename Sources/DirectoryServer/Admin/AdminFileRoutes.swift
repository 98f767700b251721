// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// Whole files: imports and exports of an account.
struct AdminFileRoutes: Sendable {
    /// The folder of logo files; nil for none.
    let folder: String?
    let publicURL: String?
    let now: @Sendable () -> Int64

    /// Largest import, in bytes: some ten million numbers.
    static let importLimit = 2 << 30

    /// Removes import files left by a killed server.
    static func sweep(_ folder: String) {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for file in files where file.hasPrefix("import-") && file.hasSuffix(".part") { unlink(folder + "/" + file) }
    }

    /// Imports a streamed file and reports its problems by line.
    ///
    /// The file is stored beside the database until it is complete, so that a slow sender holds no transaction.
    func importBrands(_ admin: AdminRequest) async throws -> Response {
        let account = try await admin.account()
        var options = BrandImport.Options()
        options.isTrial = try admin.flag("dry_run") ?? false
        options.skipsInvalid = try admin.flag("skip_bad") ?? false
        options.replaces = try admin.flag("replace") ?? false
        var region: Region?
        if let text = admin.text("region") {
            guard let known = Region(text.uppercased()) else {
                throw Refusal.badRequest("region must be two letters, such as AU or DE")
            }
            region = known
        }
        let path = admin.database.folder + "/import-\(UUID().uuidString).part"
        defer { unlink(path) }
        try await receive(admin.request, into: path)
        let (normaliser, how) = (NumberNormaliser(region: region), options)
        let (code, logos) = (region.map { "\($0)" }, LogoCheck.place(logos: folder, publicURL: publicURL))
        let result = try await admin.longWork { turn in
            try BrandImport(admin.database, account: account, region: code, logos: logos, turn: turn) {
                normaliser.normalise(Array($0.utf8))
            }.run(path: path, how, now: now())
        }
        let isRefused = result.rejected > 0 && !options.skipsInvalid || result.isEmpty
        return try JSONBody.response(result, status: isRefused ? .unprocessableContent : .ok)
    }

    func export(_ admin: AdminRequest) async throws -> Response {
        let account = try await admin.account()
        let format: BrandExport.Format = try admin.choice("format") ?? .csv
        let export = try BrandExport(admin.database, account: account, format: format)
        let type = format == .csv ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8"
        return Response(
            status: .ok,
            headers: [
                .contentType: type, .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"brands.\(format.rawValue)\"",
            ],
            body: .init { writer in
                var export = export
                while let piece = try await export.next() { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            })
    }

    /// Writes a body to a file readable by this user only.
    private func receive(_ request: Request, into path: String) async throws {
        let file = FileHandle(fileDescriptor: try PrivateFile.create(path), closeOnDealloc: true)
        var size = 0
        for try await buffer in request.body {
            size += buffer.readableBytes
            guard size <= Self.importLimit else {
                throw Refusal(
                    .contentTooLarge, "The file is larger than \(Self.importLimit) bytes", code: "too_large")
            }
            try file.write(contentsOf: Data(buffer.readableBytesView))
        }
    }
}
