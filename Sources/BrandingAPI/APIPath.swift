// SPDX-License-Identifier: Apache-2.0

/// The paths of the directory's HTTP contract, relative to a mount point.
///
/// A server serves them below `/` and below `/api/`.
package enum APIPath {
    /// GET returns brands; POST confirms a sync.
    package static let sync = "mobile/branding/sync"
    /// Looks up one number.
    package static let lookup = "mobile/branding/lookup"
    /// Accepts one event.
    package static let event = "mobile/branding/event"
    /// Registers a device.
    package static let register = "mobile/device/register"
    /// Updates a device.
    package static let update = "mobile/device/update"
    /// Reports that a device is alive.
    package static let presence = "mobile/device/presence"
    /// Telemetry lines; deprecated in the published description, but phones still send them.
    package static let deviceLog = "mobile/device/log"
    /// The older billing report; only `event` counts towards the month.
    package static let imprint = "mobile/branding/imprint"
    /// Several events in one request, if the remote configuration offers it.
    package static let batch = "mobile/sync/batch"
    /// Remote configuration.
    package static let configuration = "mobile/config"
    /// Accepts logs and status at the directory's request.
    package static let debugUpload = "mobile/debug/upload"
    /// Starts a chunked upload.
    package static let uploadStart = "mobile/uploads/chunked/init"
    /// Accepts one chunk.
    package static let uploadChunk = "mobile/uploads/chunked/chunk"
    /// Completes a chunked upload.
    package static let uploadComplete = "mobile/uploads/chunked/complete"
    /// Checks a link into an app, for developers of apps.
    package static let testDeepLink = "mobile/test/deep-link"
    /// Registers a device for push messages; DELETE removes it.
    package static let push = "mobile/device/push"
    /// The messages that a device wants.
    package static let pushPreferences = "mobile/device/push/preferences"
    /// The key with which a browser subscribes.
    package static let pushKey = "mobile/device/push/key"
    /// Sends a test message.
    package static let pushTest = "mobile/test/push-notification"
    /// Issues tokens for an API key and a registered device.
    package static let token = "mobile/auth/token"
    /// Exchanges a refresh token for a new access token.
    package static let refresh = "mobile/auth/refresh"
}

/// Field limits in characters.
///
/// The directory enforces them, and clients clamp to them. Source: securenode-ios-sdk, field constraints.
package enum FieldLimit {
    package static let number = 20
    package static let brandName = 100
    package static let logoURL = 2048
    package static let callReason = 200
    /// `event_key`, which is unique within an API key.
    package static let eventKey = 200
    /// `meta` of an event: bytes of JSON.
    package static let meta = 16_384
    /// Operations in one batch.
    package static let batch = 500
    /// Logs of a debug upload that is not chunked.
    package static let debugLogs = 200_000
}
