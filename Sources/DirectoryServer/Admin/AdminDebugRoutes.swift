// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import Hummingbird
import NIOCore

/// Requests debug uploads of devices, and serves the received ones.
struct AdminDebugRoutes: Sendable {
    let now: @Sendable () -> Int64

    /// Longest lifetime of a request, in seconds: a week.
    static let longest = 604_800

    private struct Asked: Decodable {
        var device_id: String?
        var expires_in_seconds: Int?
    }

    private struct Listing: Encodable {
        var success = true
        let requests: [Item]
        let uploads: [DebugUploads.Stored]

        struct Item: Encodable {
            let device_id: String?
            let expires_at: String
        }
    }

    /// Lists the open requests and the latest uploads.
    func list(_ admin: AdminRequest) async throws -> Response {
        let (account, limit, now) = (try await admin.account(), try admin.limit(), now())
        let listing = try await admin.blocking {
            Listing(
                requests: try DebugRequests(admin.database, account: account).open(now: now).map {
                    .init(device_id: $0.device, expires_at: Timestamp.string(from: $0.expires))
                },
                uploads: try DebugUploads(admin.database, account: account).latest(limit: limit))
        }
        return try JSONBody.response(listing)
    }

    /// Serves the logs of an upload unchanged, from the upload itself or from its chunked file.
    func logs(_ admin: AdminRequest) async throws -> Response {
        let (account, id) = (try await admin.account(), try admin.pathPart("upload"))
        let found = try await admin.blocking { try DebugUploads(admin.database, account: account).find(id) }
        guard let upload = found else { throw Refusal.notFound("There is no such debug upload") }
        // The headers keep browsers from showing a device's bytes as a page of this server.
        var headers: HTTPFields = [
            .cacheControl: "no-store", .contentDisposition: "attachment; filename=\"\(upload.id).log\"",
            .contentType: "text/plain; charset=utf-8",
        ]
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        guard let file = upload.logsUploadID else {
            guard let logs = upload.logs else { throw Refusal.notFound("This debug upload has no logs") }
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: logs)))
        }
        let logs = try await admin.blocking { try UploadedLogs(file, of: account, in: admin.database) }
        if logs.type != "text/plain" { headers[.contentType] = logs.type }
        return Response(
            status: .ok, headers: headers,
            body: .init { writer in
                var offset = 0
                while case let piece = try logs.read(at: offset), !piece.isEmpty {
                    try await writer.write(ByteBuffer(bytes: piece))
                    offset += piece.count
                }
                try await writer.finish(nil)
            })
    }

    /// Requests an upload of one device, or without `device_id` of every device, with their next sync.
    func ask(_ admin: AdminRequest) async throws -> Response {
        let (account, now) = (try await admin.account(), now())
        let asked = try await JSONBody.read(
            Asked.self, of: admin.request, fields: ["device_id", "expires_in_seconds"])
        let seconds = asked.expires_in_seconds ?? 86_400
        guard (60...Self.longest).contains(seconds) else {
            throw Refusal.badRequest("expires_in_seconds must be 60 to \(Self.longest)")
        }
        if let device = asked.device_id, !(1...128).contains(device.count) {
            throw Refusal.badRequest("device_id must have 1 to 128 characters")
        }
        try await admin.blocking {
            try DebugRequests(admin.database, account: account)
                .request(device: asked.device_id, expires: now + Int64(seconds), now: now)
        }
        return try JSONBody.response(AdminDone(changed: 1), status: .created)
    }

    /// Withdraws the request for a device, or without `device_id` the one for every device.
    func withdraw(_ admin: AdminRequest) async throws -> Response {
        let (account, device) = (try await admin.account(), admin.text("device_id"))
        let isWithdrawn = try await admin.blocking {
            try DebugRequests(admin.database, account: account).withdraw(device: device)
        }
        guard isWithdrawn else { throw Refusal.notFound("No such request is open") }
        return try JSONBody.response(AdminDone(changed: 1))
    }
}
