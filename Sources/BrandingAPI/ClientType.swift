// SPDX-License-Identifier: Apache-2.0

/// What kind of client asks, by the header `X-Client-Type`; one that says nothing is `web`.
///
/// Source: mobile-api, "Mobile Client Identification"; `herald` is a SIP gateway.
package enum ClientType: String, Hashable, Sendable, CaseIterable {
    case web
    case mobileIOS = "mobile-ios"
    case mobileAndroid = "mobile-android"
    case herald

    package static let header = "X-Client-Type"
}
