// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/debug/upload`, sent once for a nonce and only while the directory asks for it.
///
/// 403 says that it was not asked for or came too late, 409 that the nonce was there before, 413 that it is too large;
/// all three are final. Source: securenode-endpoint-contract §9.
package struct DebugUpload: Codable, Hashable, Sendable {
    package var deviceID: String
    /// A UUID of the client's own making.
    package var nonce: String
    /// ISO 8601.
    package var createdAt: String?
    /// The end the directory had set, to the letter.
    package var expiresAt: String?
    /// What the client is and how it stands; any JSON value.
    package var state: JSONValue?
    /// At most `FieldLimit.debugLogs` characters; longer ones are uploaded in chunks.
    package var logs: String?
    /// The id of a finished chunked upload that holds the logs instead.
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
    /// The directory's name of the upload; nil where it gives none.
    package var id: String?

    package init(id: String) {
        success = true
        self.id = id
    }

    /// Reads a response; neither member must be there, as the endpoint contract §9 names none.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.tolerantBool(.success) ?? true
        id = container.tolerantString(.id)
    }
}
