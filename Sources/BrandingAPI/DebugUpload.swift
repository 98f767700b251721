// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/debug/upload`, sent once per nonce and only at the directory's request.
///
/// Final errors: 403 not requested or too late, 409 repeated nonce, 413 too large. Source: securenode-endpoint-contract
/// §9.
package struct DebugUpload: Codable, Hashable, Sendable {
    package var deviceID: String
    /// A UUID chosen by the client.
    package var nonce: String
    /// ISO 8601.
    package var createdAt: String?
    /// The directory's deadline, unchanged.
    package var expiresAt: String?
    /// Version and status of the client; any JSON value.
    package var state: JSONValue?
    /// At most `FieldLimit.debugLogs` characters; longer logs are uploaded in chunks.
    package var logs: String?
    /// The identifier of a finished chunked upload that holds the logs.
    package var logsUploadID: String?

    package enum CodingKeys: String, CodingKey {
        case nonce, state, logs
        case deviceID = "device_id"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case logsUploadID = "logs_upload_id"
    }

    package init(
        deviceID: String, nonce: String, createdAt: String? = nil, expiresAt: String? = nil,
        state: JSONValue? = nil, logs: String? = nil, logsUploadID: String? = nil
    ) {
        self.deviceID = deviceID
        self.nonce = nonce
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.state = state
        self.logs = logs
        self.logsUploadID = logsUploadID
    }
}

/// The response to a debug upload.
package struct DebugUploadResponse: Codable, Hashable, Sendable {
    package var success: Bool
    /// The directory's identifier of the upload; nil if absent.
    package var id: String?

    package init(id: String) {
        success = true
        self.id = id
    }

    /// Decodes a response; both members are optional, because the endpoint contract §9 names none.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.tolerantBool(.success) ?? true
        id = container.tolerantString(.id)
    }
}
