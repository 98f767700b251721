// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import CallAccounting
package import Foundation
package import Logging
import Primitives
import ServiceLifecycle
import Synchronization

/// Sends logs and state to the directory on its request, if every gate is open.
///
/// Off by default. The gates: the operator's own, `enabled`, `request_upload`, `allow_export`, and an end in the
/// future. Each request causes one upload. The latch is on disk before the upload. It is released only after the
/// request has ended, so neither a restart nor a lost response uploads twice under another nonce. Source:
/// securenode-endpoint-contract §9.
package final class DebugUploader: Service, Sendable {
    /// The content of an upload.
    package struct Content: Sendable {
        /// The last log lines, oldest first.
        package var logs: @Sendable () -> [String]
        /// The status as JSON.
        package var state: @Sendable () async -> Data?

        package init(logs: @escaping @Sendable () -> [String], state: @escaping @Sendable () async -> Data?) {
            self.logs = logs
            self.state = state
        }
    }

    /// The file that exists while the request lasts.
    private struct Latch: Codable {
        var nonce: String
        var isDone: Bool
    }

    private let client: DirectoryClient
    private let device: DeviceIdentity
    private let current: CurrentBranding
    private let content: Content
    private let file: String
    private let time: ServiceClock
    private let logger: Logger
    private let due = AsyncEvent()

    package init(
        client: DirectoryClient, device: DeviceIdentity, current: CurrentBranding, stateFolder: String,
        content: Content, time: ServiceClock = .system, logger: Logger
    ) {
        self.client = client
        self.device = device
        self.current = current
        self.content = content
        file = stateFolder + "/debug-upload.json"
        self.time = time
        self.logger = logger
        client.state.onChange { [due] in due.ring() }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let isSettled = await self.check()
                await self.due.wait(isSettled ? .seconds(3600) : .seconds(300), time: self.time)
            }
        }
    }

    /// Checks the gates and uploads if all are open.
    ///
    /// - Returns: false if the upload must be retried.
    @discardableResult
    func check() async -> Bool {
        guard let gates = client.state.config.debugUI else { return true }
        if gates.requestUpload == false { unlink(file) }
        guard isOpen(gates) else { return true }
        let stored = FileManager.default.contents(atPath: file).flatMap {
            try? JSONDecoder().decode(Latch.self, from: $0)
        }
        guard stored?.isDone != true else { return true }
        let nonce = stored?.nonce ?? UUID().uuidString.lowercased()
        do {
            try keep(Latch(nonce: nonce, isDone: false))
        } catch {
            logger.warning("no debug upload: its latch cannot be stored", metadata: ["path": "\(file)"])
            return true
        }
        do throws(DirectoryError) {
            let id = try await upload(nonce, gates)
            logger.notice("logs and state were uploaded as the directory asked", metadata: ["id": "\(id)"])
        } catch {
            logger.notice("the debug upload failed", metadata: ["error": "\(error)"])
            switch error {
            case .rejected where error.isOfTheWay: return false
            case .rejected, .unauthorised: break  // 403, 409, 413: a retry has the same result
            case .unavailable, .badResponse, .notKept: return false
            }
        }
        try? keep(Latch(nonce: nonce, isDone: true))
        return true
    }

    private func isOpen(_ gates: DirectoryConfig.DebugUI) -> Bool {
        guard gates.enabled == true, gates.requestUpload == true, gates.allowExport == true else { return false }
        guard let end = gates.expiresAt else { return true }
        // An unreadable end counts as passed.
        return Timestamp.seconds(from: end).map { $0 > time.now() } ?? false
    }

    private func keep(_ latch: Latch) throws {
        try PrivateFile.write([UInt8](try JSONEncoder().encode(latch)), to: file)
    }

    private func upload(_ nonce: String, _ gates: DirectoryConfig.DebugUI) async throws(DirectoryError) -> String {
        let redaction = DebugRedaction(secrets: client.settings.secrets, index: current.load().index)
        let logs = redaction.clean(content.logs().joined(separator: "\n"))
        let state = await content.state().flatMap { try? JSONValue.object(parsing: $0) }
        var upload = DebugUpload(
            deviceID: device.id, nonce: nonce, createdAt: Timestamp.string(from: time.now()),
            expiresAt: gates.expiresAt,
            state: state.map { .object($0.mapValues(redaction.clean)) })
        if logs.count <= FieldLimit.debugLogs {
            upload.logs = logs
        } else if client.state.remote?.features.chunkedUpload == true {
            upload.logsUploadID = try await client.uploadInChunks(Data(logs.utf8), name: "herald-\(nonce).log")
        } else {
            // The newest lines are the most useful.
            upload.logs = String(logs.suffix(FieldLimit.debugLogs))
        }
        return ServerText.clean(try await client.upload(upload).id ?? "")
    }
}

extension DirectoryClient {
    func upload(_ upload: DebugUpload) async throws(DirectoryError) -> DebugUploadResponse {
        try decode(DebugUploadResponse.self, await post(APIPath.debugUpload, upload))
    }

    /// Sends a large body in chunks.
    ///
    /// - Returns: the id of the upload.
    func uploadInChunks(_ body: Data, name: String) async throws(DirectoryError) -> String {
        let start = UploadStart(filename: name, totalSize: body.count, contentType: "text/plain")
        let session = try decode(UploadSession.self, await post(APIPath.uploadStart, start))
        guard (1024...64 * 1024 * 1024).contains(session.chunkSize) else {
            throw .badResponse(reason: "its chunk_size is \(session.chunkSize)")
        }
        for (position, offset) in stride(from: 0, to: body.count, by: session.chunkSize).enumerated() {
            let piece = body[offset..<min(offset + session.chunkSize, body.count)]
            let chunk = UploadChunk(
                sessionID: session.sessionID, number: position + 1, data: Data(piece).base64EncodedString())
            try await post(APIPath.uploadChunk, chunk)
        }
        let end = UploadEnd(sessionID: session.sessionID)
        return try decode(UploadedFile.self, await post(APIPath.uploadComplete, end)).id
    }
}
