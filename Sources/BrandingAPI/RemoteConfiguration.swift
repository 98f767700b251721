// SPDX-License-Identifier: Apache-2.0

/// The response to `GET mobile/config?platform=…&app_version=…`.
///
/// Every field is optional for a client. A field of a wrong type counts as absent. Source: mobile-api, "Mobile
/// Configuration".
package struct RemoteConfiguration: Hashable, Sendable {
    package var platform: String?
    /// The oldest supported client version, such as `1.0.0`.
    package var minimumVersion: String?
    package var latestVersion: String?
    /// True asks for an update of the client; never stops a call.
    package var forceUpdate: Bool?
    package var features = Features()
    package var settings = Settings()

    /// Optional features of the server.
    package struct Features: Hashable, Sendable {
        /// Offers `POST mobile/sync/batch`.
        package var eventBatch: Bool?
        /// Offers the three `mobile/uploads/chunked` routes.
        package var chunkedUpload: Bool?
        /// Sends tombstones in incremental sync responses to clients with `include_inactive=true`.
        package var tombstones: Bool?
    }

    /// The server's preferences for its clients.
    package struct Settings: Hashable, Sendable {
        /// Minutes between two syncs.
        package var syncIntervalMinutes: Int?
        /// Hours for which a client may use its copy without a successful sync.
        package var cacheTTLHours: Int?
        /// Largest number of operations in one batch.
        package var maxBatchSize: Int?
        package var maxUploadSizeMB: Int?
        package var chunkSizeMB: Int?

        package init() {}
    }

    /// Creates a configuration without any field.
    package init() {}
}

extension RemoteConfiguration: Codable {
    package enum CodingKeys: String, CodingKey {
        case platform, features, settings
        case minimumVersion = "min_supported_version"
        case latestVersion = "latest_version"
        case forceUpdate = "force_update"
    }

    /// Decodes the readable fields.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        platform = container.tolerantString(.platform)
        minimumVersion = container.tolerantString(.minimumVersion)
        latestVersion = container.tolerantString(.latestVersion)
        forceUpdate = container.tolerantBool(.forceUpdate)
        features = container.tolerant(Features.self, .features) ?? Features()
        settings = container.tolerant(Settings.self, .settings) ?? Settings()
    }
}

extension RemoteConfiguration.Features: Codable {
    package enum CodingKeys: String, CodingKey {
        case tombstones
        case eventBatch = "event_batch"
        case chunkedUpload = "chunked_upload"
    }

    /// Decodes the readable fields.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        eventBatch = container.tolerantBool(.eventBatch)
        chunkedUpload = container.tolerantBool(.chunkedUpload)
        tombstones = container.tolerantBool(.tombstones)
    }
}

extension RemoteConfiguration.Settings: Codable {
    package enum CodingKeys: String, CodingKey {
        case syncIntervalMinutes = "sync_interval_minutes"
        case cacheTTLHours = "cache_ttl_hours"
        case maxBatchSize = "max_batch_size"
        case maxUploadSizeMB = "max_upload_size_mb"
        case chunkSizeMB = "chunk_size_mb"
    }

    /// Decodes the readable fields.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        syncIntervalMinutes = container.tolerantInt(.syncIntervalMinutes)
        cacheTTLHours = container.tolerantInt(.cacheTTLHours)
        maxBatchSize = container.tolerantInt(.maxBatchSize)
        maxUploadSizeMB = container.tolerantInt(.maxUploadSizeMB)
        chunkSizeMB = container.tolerantInt(.chunkSizeMB)
    }
}
