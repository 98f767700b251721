// SPDX-License-Identifier: Apache-2.0

/// The kind of a client, from its `X-Client-Type` header.
///
/// A missing header means `web`. Source: mobile-api, "Mobile Client Identification"; `herald` is a SIP gateway.
package enum ClientType: String, Hashable, Sendable, CaseIterable {
    case web
    case mobileIOS = "mobile-ios"
    case mobileAndroid = "mobile-android"
    case herald

    /// True for apps on phones, whose responses have links into the app.
    package var isMobile: Bool { self == .mobileIOS || self == .mobileAndroid }

    package static let header = "X-Client-Type"
}
