// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Reads the subscription of a browser, as `PushSubscription.toJSON()` of the Push API writes it.
package enum WebPushSubscription {
    /// The largest subscription in bytes.
    package static let most = 4096

    private struct Body: Decodable {
        struct Keys: Decodable {
            var p256dh: String
            var auth: String
        }

        var endpoint: String
        /// Milliseconds since 1970.
        var expirationTime: Double?
        var keys: Keys
    }

    /// - Parameters:
    ///   - allowPrivateAddresses: as in `PushSettings`.
    ///   - now: seconds since 1970, for `expirationTime`; nil if it does not matter.
    package static func parse(
        _ json: [UInt8], allowPrivateAddresses: Bool = false, at now: Int64? = nil
    ) throws(WebPushSubscriptionError) -> PushTarget {
        guard json.count <= most else { throw .tooLarge }
        guard let body = PushJSON.value(Body.self, in: json) else { throw .form }
        do throws(PushServiceURL.Fault) {
            _ = try PushServiceURL.check(body.endpoint, allowsPrivate: allowPrivateAddresses)
        } catch {
            throw .endpoint(error)
        }
        if let now, let end = body.expirationTime, end <= Double(now) * 1000 { throw .expired }
        guard let key = Base64URL.decode(body.keys.p256dh) else { throw .encoding("p256dh") }
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: key)) != nil, key.count == 65 else { throw .point }
        guard let secret = Base64URL.decode(body.keys.auth) else { throw .encoding("auth") }
        guard secret.count == 16 else { throw .secret(secret.count) }
        return .web(endpoint: body.endpoint, p256dh: key, auth: secret)
    }
}

/// The reason why a subscription is refused, without a value of it.
package struct WebPushSubscriptionError: Error, Hashable, CustomStringConvertible {
    /// The name of the wrong field; nil for the whole.
    package let field: String?
    package let description: String

    static let tooLarge = Self(field: nil, description: "it is larger than \(WebPushSubscription.most) bytes")
    static let form = Self(
        field: nil,
        description: "it is not the JSON of PushSubscription.toJSON(), with endpoint, keys.p256dh and keys.auth")
    static let expired = Self(field: "expirationTime", description: "the subscription has expired; subscribe again")
    static let point = Self(
        field: "p256dh", description: "keys.p256dh is not an uncompressed point of P-256 in 65 bytes")

    static func encoding(_ name: String) -> Self {
        Self(field: name, description: "keys.\(name) is not base64url without padding")
    }

    static func secret(_ count: Int) -> Self {
        Self(field: "auth", description: "keys.auth has \(count) bytes, and 16 are required")
    }

    static func endpoint(_ fault: PushServiceURL.Fault) -> Self {
        let text =
            switch fault {
            case .noURL: "endpoint is no URL of at most \(PushServiceURL.most) bytes without user and fragment"
            case .noHTTPS: "endpoint does not begin with https://"
            case .privateAddress(let host): "endpoint leads to \(host), which is no public address"
            }
        return Self(field: "endpoint", description: text)
    }
}
