// SPDX-License-Identifier: Apache-2.0

/// The response to `GET mobile/branding/sync`.
package struct SyncResponse: Codable, Hashable, Sendable {
    package var success: Bool
    package var branding: [BrandingItem]
    /// The server's time, unchanged: the next `since`.
    package var syncedAt: String
    package var config: DirectoryConfig?
    /// The number of entries in `branding`, for a client's check; not in the published schema.
    package var count: Int?

    package enum CodingKeys: String, CodingKey {
        case success, branding, config, count
        case syncedAt = "synced_at"
    }

    package init(success: Bool, branding: [BrandingItem], syncedAt: String, config: DirectoryConfig?) {
        self.success = success
        self.branding = branding
        self.syncedAt = syncedAt
        self.config = config
    }
}

/// The body of the optional `POST mobile/branding/sync`, with which a client reports what it has stored.
package struct SyncAcknowledgement: Codable, Hashable, Sendable {
    /// The `synced_at` of the confirmed sync.
    package var lastSyncedAt: String
    /// The stored numbers in E.164.
    package var numbers: [String]

    package enum CodingKeys: String, CodingKey {
        case lastSyncedAt = "last_synced_at"
        case numbers = "e164_numbers"
    }

    package init(lastSyncedAt: String, numbers: [String]) {
        self.lastSyncedAt = lastSyncedAt
        self.numbers = numbers
    }
}
