// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Hummingbird

/// What the operator tells clients by `GET mobile/config`.
package struct ClientSettings: Hashable, Sendable {
    /// The oldest client version that is supported; nil says nothing.
    package var minimumVersion: String?
    package var latestVersion: String?
    package var forceUpdate = false
    package var syncIntervalMinutes = 15
    package var cacheTTLHours = 24

    package init() {}
}

/// `GET mobile/config`: the operator's settings, and what this server offers beyond the contract.
struct ConfigurationRoute: Sendable {
    let settings: ClientSettings

    func configuration(_ request: Request, _ context: AccountContext) async throws -> Response {
        guard let platform = QueryText.read("platform", of: request), (1...64).contains(platform.unicodeScalars.count)
        else {
            throw Refusal.badRequest("platform must be named, such as ios, android or sip")
        }
        if let version = QueryText.read("app_version", of: request), version.unicodeScalars.count > 64 {
            throw Refusal.badRequest("app_version has more than 64 characters")
        }
        var answer = RemoteConfiguration()
        answer.platform = platform
        answer.minimumVersion = settings.minimumVersion
        answer.latestVersion = settings.latestVersion
        answer.forceUpdate = settings.forceUpdate
        (answer.features.eventBatch, answer.features.chunkedUpload) = (true, true)
        answer.features.tombstones = true
        answer.settings.syncIntervalMinutes = settings.syncIntervalMinutes
        answer.settings.cacheTTLHours = settings.cacheTTLHours
        answer.settings.maxBatchSize = FieldLimit.batch
        answer.settings.maxUploadSizeMB = ChunkedUploads.largest / 1_000_000
        return try Answers.json(answer)
    }
}
