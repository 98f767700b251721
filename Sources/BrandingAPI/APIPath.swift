// SPDX-License-Identifier: Apache-2.0

/// The contract's paths, without the mount: a server offers them below `/` and below `/api/`.
package enum APIPath {
    package static let sync = "mobile/branding/sync"
    package static let lookup = "mobile/branding/lookup"
    package static let event = "mobile/branding/event"
    package static let register = "mobile/device/register"
    package static let update = "mobile/device/update"
    package static let presence = "mobile/device/presence"
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
}
