// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import DirectoryStore
import Foundation

extension DirectoryDatabase {
    /// A device that was asked sends logs in chunks, and a debug upload that names them.
    ///
    /// - Parameters:
    ///   - isOpenFor: seconds for which the request stays open.
    ///   - now: seconds since 1970.
    /// - Returns: the ids of the debug upload and of the file.
    package func receive(
        logs: [UInt8], type: String = "text/plain", device: String = "gw", isOpenFor: Int64 = 60, now: Int64
    ) async throws -> (id: String, file: String) {
        let uploads = ChunkedUploads(self, account: .first)
        let start = UploadStart(filename: "herald.log", totalSize: logs.count, contentType: type)
        let session = try await uploads.start(start, now: now)
        for (place, offset) in stride(from: 0, to: logs.count, by: session.chunkSize).enumerated() {
            let piece = Data(logs[offset..<min(offset + session.chunkSize, logs.count)])
            let chunk = UploadChunk(
                sessionID: session.sessionID, number: place + 1, data: piece.base64EncodedString())
            _ = try await uploads.store(chunk, now: now)
        }
        let file = try await uploads.complete(session.sessionID, now: now).id
        return (try await receive(file: file, device: device, isOpenFor: isOpenFor, now: now), file)
    }

    /// A device that was asked sends a debug upload, whose logs came as a file or with it.
    ///
    /// - Returns: its id.
    package func receive(
        file: String? = nil, logs: String? = nil, device: String = "gw", isOpenFor: Int64 = 60, now: Int64
    ) async throws -> String {
        try await DeviceList(self, account: .first).register(
            DeviceRegistration(deviceID: device, platform: "sip"), now: now)
        try DebugRequests(self).request(device: device, expires: now + isOpenFor, now: now)
        let upload = DebugUpload(deviceID: device, nonce: UUID().uuidString, logs: logs, logsUploadID: file)
        return try await DebugUploads(self).store(upload, now: now)
    }

    /// The bytes of a finished upload.
    package func uploaded(_ id: String) throws -> [UInt8] {
        let stored = try UploadedLogs(id, in: self)
        var (all, piece) = ([UInt8](), try stored.read(at: 0))
        while !piece.isEmpty {
            all += piece
            piece = try stored.read(at: all.count)
        }
        return all
    }
}
