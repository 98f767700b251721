// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import HTTPTypes
import Hummingbird

/// `GET mobile/config`: the operator's settings, and the server's extensions of the contract.
struct ConfigurationRoute: Sendable {
    let current: @Sendable () -> ClientSettings

    func configuration(_ request: Request, _ context: AccountContext) async throws -> Response {
        guard let platform = QueryText.read("platform", of: request), (1...64).contains(platform.unicodeScalars.count)
        else {
            throw Refusal.badRequest("platform must be named, such as ios, android or sip")
        }
        if let version = QueryText.read("app_version", of: request), version.unicodeScalars.count > 64 {
            throw Refusal.badRequest("app_version has more than 64 characters")
        }
        let settings = current()
        var configuration = RemoteConfiguration()
        configuration.platform = platform
        let type = HTTPField.Name(ClientType.header).flatMap { request.headers[$0] }.flatMap(ClientType.init)
        let versions = settings.versions(for: platform, type)
        (configuration.minimumVersion, configuration.latestVersion) = (versions.minimum, versions.latest)
        configuration.forceUpdate = settings.forceUpdate && versions != .init()
        (configuration.features.eventBatch, configuration.features.chunkedUpload) = (true, true)
        configuration.features.tombstones = true
        configuration.settings.syncIntervalMinutes = settings.syncIntervalMinutes
        configuration.settings.cacheTTLHours = settings.cacheTTLHours
        configuration.settings.maxBatchSize = FieldLimit.batch
        configuration.settings.maxUploadSizeMB = ChunkedUploads.largest / 1_000_000
        return try JSONBody.response(configuration)
    }
}
