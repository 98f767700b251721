// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/uploads/chunked/init`, which starts a chunked upload.
///
/// Source: mobile-api, "Chunked Upload".
package struct UploadStart: Codable, Hashable, Sendable {
    package var filename: String
    /// Size in bytes.
    package var totalSize: Int
    package var contentType: String

    package enum CodingKeys: String, CodingKey {
        case filename
        case totalSize = "total_size"
        case contentType = "content_type"
    }

    package init(filename: String, totalSize: Int, contentType: String) {
        self.filename = filename
        self.totalSize = totalSize
        self.contentType = contentType
    }
}

/// The response to the start of a chunked upload.
package struct UploadSession: Codable, Hashable, Sendable {
    package var sessionID: String
    /// Bytes per chunk, except the last one.
    package var chunkSize: Int
    /// ISO 8601; the session and its chunks are deleted at this time.
    package var expiresAt: String

    package enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case chunkSize = "chunk_size"
        case expiresAt = "expires_at"
    }

    package init(sessionID: String, chunkSize: Int, expiresAt: String) {
        self.sessionID = sessionID
        self.chunkSize = chunkSize
        self.expiresAt = expiresAt
    }
}

/// The body of `POST mobile/uploads/chunked/chunk`; a repeated chunk replaces the earlier one.
package struct UploadChunk: Codable, Hashable, Sendable {
    package var sessionID: String
    /// Position of the chunk, from 1.
    package var number: Int
    /// The chunk in Base64.
    package var data: String

    package enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case number = "chunk_number"
        case data = "chunk_data"
    }

    package init(sessionID: String, number: Int, data: String) {
        self.sessionID = sessionID
        self.number = number
        self.data = data
    }
}

/// The response to a chunk.
package struct UploadProgress: Codable, Hashable, Sendable {
    package var number: Int
    /// Always `received`.
    package var status: String
    /// Received share of the upload in percent, 0 to 100.
    package var progress: Double

    package enum CodingKeys: String, CodingKey {
        case status, progress
        case number = "chunk_number"
    }

    package init(number: Int, progress: Double) {
        self.number = number
        status = "received"
        self.progress = progress
    }
}

/// The body of `POST mobile/uploads/chunked/complete`, which ends a chunked upload.
package struct UploadEnd: Codable, Hashable, Sendable {
    package var sessionID: String

    package enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
    }

    package init(sessionID: String) { self.sessionID = sessionID }
}

/// The response to the end of a chunked upload.
package struct UploadedFile: Codable, Hashable, Sendable {
    package var id: String
    /// Size in bytes.
    package var size: Int

    package init(id: String, size: Int) {
        self.id = id
        self.size = size
    }
}
