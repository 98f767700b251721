// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// `POST mobile/debug/upload` and the three `mobile/uploads/chunked` routes.
struct UploadRoutes: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    func debug(_ request: Request, _ context: AccountContext) async throws -> Response {
        let upload = try DebugUpload(try await JSONBody.object(of: request, levels: .max))
        try FieldCheck.length(upload.deviceID, 1...128, "device_id")
        guard UUID(uuidString: upload.nonce) != nil else { throw Refusal.badRequest("nonce is no UUID") }
        try upload.createdAt.map { try FieldCheck.time($0, "created_at") }
        try upload.expiresAt.map { try FieldCheck.time($0, "expires_at") }
        if let logs = upload.logs, logs.unicodeScalars.count > FieldLimit.debugLogs {
            throw Refusal.tooLarge("logs have more than \(FieldLimit.debugLogs) characters", most: FieldLimit.debugLogs)
        }
        let uploads = DebugUploads(database, account: context.account)
        return try JSONBody.response(DebugUploadResponse(id: try await uploads.store(upload, now: now())))
    }

    func start(_ request: Request, _ context: AccountContext) async throws -> Response {
        let start = try await JSONBody.read(
            UploadStart.self, of: request, fields: ["filename", "total_size", "content_type"])
        try FieldCheck.length(start.filename, 1...255, "filename")
        guard start.totalSize >= 1 else { throw Refusal.badRequest("total_size must be 1 or more") }
        let (most, types) = (ChunkedUploads.largest, ChunkedUploads.contentTypes)
        guard start.totalSize <= most else {
            throw Refusal.tooLarge("total_size is above \(most) bytes", most: most)
        }
        guard types.contains(start.contentType) else { throw Refusal.format(start.contentType, taken: types) }
        return try JSONBody.response(try await uploads(context).start(start, now: now()))
    }

    func chunk(_ request: Request, _ context: AccountContext) async throws -> Response {
        let chunk = try await JSONBody.read(
            UploadChunk.self, of: request, fields: ["session_id", "chunk_number", "chunk_data"])
        return try JSONBody.response(try await uploads(context).store(chunk, now: now()))
    }

    func complete(_ request: Request, _ context: AccountContext) async throws -> Response {
        let end = try await JSONBody.read(UploadEnd.self, of: request, fields: ["session_id"])
        return try JSONBody.response(try await uploads(context).complete(end.sessionID, now: now()))
    }

    private func uploads(_ context: AccountContext) -> ChunkedUploads {
        ChunkedUploads(database, account: context.account)
    }
}

extension Refusal {
    /// - Parameter most: the limit, in the unit of the message.
    static func tooLarge(_ message: String, most: Int) -> Refusal {
        var refusal = Refusal(.contentTooLarge, message, code: "FILE_TOO_LARGE")
        refusal.details = ["max_size": .int(most)]
        refusal.guidance = "Send less, or use chunked upload for logs"
        return refusal
    }

    fileprivate static func format(_ provided: String, taken: [String]) -> Refusal {
        var refusal = Refusal(.unprocessableContent, "This content_type is not taken", code: "UNSUPPORTED_FORMAT")
        refusal.details = [
            "provided_format": .string(String(provided.prefix(64))),
            "supported_formats": .array(taken.map { .string($0) }),
        ]
        return refusal
    }
}
