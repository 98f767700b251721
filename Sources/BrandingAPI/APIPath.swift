// SPDX-License-Identifier: Apache-2.0

/// The contract's paths, without the mount: a server offers them below `/` and below `/api/`.
package enum APIPath {
    package static let sync = "mobile/branding/sync"
    package static let lookup = "mobile/branding/lookup"
    package static let event = "mobile/branding/event"
    package static let register = "mobile/device/register"
    package static let update = "mobile/device/update"
    package static let presence = "mobile/device/presence"
    /// Lines of telemetry; the published description calls it deprecated, and phones send it.
    package static let deviceLog = "mobile/device/log"
    /// The older billing report; `event` is the one that counts.
    package static let imprint = "mobile/branding/imprint"
    /// Several events in one request, where the remote configuration offers it.
    package static let batch = "mobile/sync/batch"
    /// Remote configuration.
    package static let configuration = "mobile/config"
    package static let debugUpload = "mobile/debug/upload"
    package static let uploadStart = "mobile/uploads/chunked/init"
    package static let uploadChunk = "mobile/uploads/chunked/chunk"
    package static let uploadComplete = "mobile/uploads/chunked/complete"
    /// Tokens for an API key and a registered device.
    package static let token = "mobile/auth/token"
    /// A new access token for a refresh token.
    package static let refresh = "mobile/auth/refresh"
}

/// Field limits that the directory enforces and clients clamp to, in characters.
///
/// Source: securenode-ios-sdk, field constraints.
package enum FieldLimit {
    package static let number = 20
    package static let brandName = 100
    package static let logoURL = 2048
    package static let callReason = 200
    /// `event_key`, unique for an API key.
    package static let eventKey = 200
    /// `meta` of an event as JSON, in bytes.
    package static let meta = 16_384
    /// Operations of a batch.
    package static let batch = 500
    /// Logs of a debug upload in one piece.
    package static let debugLogs = 200_000
}
