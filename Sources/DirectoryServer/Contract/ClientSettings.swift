// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import Hummingbird

/// The operator's settings for clients, for `GET mobile/config`.
package struct ClientSettings: Hashable, Sendable {
    package var ios = Versions()
    package var android = Versions()
    /// Gateways.
    package var herald = Versions()
    package var forceUpdate = false
    package var syncIntervalMinutes = 15
    package var cacheTTLHours = 24

    package init() {}

    /// The versions of one kind of client; nil leaves the field out.
    package struct Versions: Hashable, Sendable {
        /// The oldest supported version.
        package var minimum: String?
        package var latest: String?

        package init(minimum: String? = nil, latest: String? = nil) {
            self.minimum = minimum
            self.latest = latest
        }
    }

    /// The versions for a client; empty for an unknown platform.
    ///
    /// A gateway is recognised by its client type, because its platform is a configurable text.
    func versions(for platform: String, _ type: ClientType?) -> Versions {
        if type == .herald { return herald }
        return switch platform.lowercased() {
        case "ios": ios
        case "android": android
        case "linux", "sip", "herald": herald
        default: Versions()
        }
    }
}

/// `GET mobile/config`: the operator's settings, and the server's extensions of the contract.
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
        let type = HTTPField.Name(ClientType.header).flatMap { request.headers[$0] }.flatMap(ClientType.init)
        let versions = settings.versions(for: platform, type)
        (answer.minimumVersion, answer.latestVersion) = (versions.minimum, versions.latest)
        answer.forceUpdate = settings.forceUpdate && versions != .init()
        (answer.features.eventBatch, answer.features.chunkedUpload) = (true, true)
        answer.features.tombstones = true
        answer.settings.syncIntervalMinutes = settings.syncIntervalMinutes
        answer.settings.cacheTTLHours = settings.cacheTTLHours
        answer.settings.maxBatchSize = FieldLimit.batch
        answer.settings.maxUploadSizeMB = ChunkedUploads.largest / 1_000_000
        return try Answers.json(answer)
    }
}
