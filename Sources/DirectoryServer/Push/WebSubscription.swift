// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
package import Foundation

/// A subscription of a browser (W3C Push API, `PushSubscription.toJSON`).
package struct WebSubscription: Hashable, Sendable {
    package let endpoint: String
    /// The browser's public key, an uncompressed point of P-256 (RFC 8291 §2.1).
    package let key: Data
    /// The authentication secret of 16 bytes (RFC 8291 §3.2).
    package let secret: Data

    /// The host of the push service, with its port if it has one.
    package let host: String

    /// The cause of a refused subscription.
    enum Problem: Error, Hashable {
        case noObject
        case endpoint
        case key
        case secret
        case expired

        var text: String {
            switch self {
            case .noObject: "subscription must be the object of PushSubscription.toJSON()"
            case .endpoint: "endpoint is no https URL of at most 2048 characters without a login"
            case .key: "keys.p256dh is no point of P-256 in base64url"
            case .secret: "keys.auth is no secret of 16 bytes in base64url"
            case .expired: "The subscription has expired; subscribe again"
            }
        }
    }

    /// Reads a subscription.
    ///
    /// - Parameters:
    ///   - allowsPlain: true accepts http, for tests.
    ///   - now: seconds since 1970.
    init(_ value: JSONValue?, allowsPlain: Bool, now: Int64) throws(Problem) {
        guard case .object(let object) = value else { throw .noObject }
        guard case .string(let endpoint) = object["endpoint"], let host = Self.host(endpoint, allowsPlain) else {
            throw .endpoint
        }
        guard case .object(let keys) = object["keys"], case .string(let point) = keys["p256dh"],
            let key = Self.bytes(point), (try? P256.KeyAgreement.PublicKey(x963Representation: key)) != nil
        else { throw .key }
        guard case .string(let text) = keys["auth"], let secret = Self.bytes(text), secret.count == 16 else {
            throw .secret
        }
        if case .int(let time) = object["expirationTime"], Int64(time) / 1000 <= now { throw .expired }
        (self.endpoint, self.host, self.key, self.secret) = (endpoint, host, key, secret)
    }

    /// Reads the stored form.
    package init?(stored: String) {
        guard let object = try? JSONValue.object(parsing: stored.utf8),
            case .string(let endpoint) = object["endpoint"], let host = Self.host(endpoint, true),
            case .string(let point) = object["p256dh"], let key = Self.bytes(point),
            case .string(let text) = object["auth"], let secret = Self.bytes(text)
        else { return nil }
        (self.endpoint, self.host, self.key, self.secret) = (endpoint, host, key, secret)
    }

    /// The form in the database: equal for equal subscriptions.
    var stored: String {
        var text = JSONText()
        text.object { object in
            object.add("endpoint", endpoint)
            object.add("p256dh", Self.text(key))
            object.add("auth", Self.text(secret))
        }
        return String(decoding: text.bytes, as: UTF8.self)
    }

    private static func host(_ endpoint: String, _ allowsPlain: Bool) -> String? {
        guard endpoint.utf8.count <= 2048, endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: endpoint), parts.user == nil, parts.password == nil,
            parts.fragment == nil, let host = parts.host, !host.isEmpty,
            parts.scheme == "https" || (allowsPlain && parts.scheme == "http")
        else { return nil }
        return host.lowercased() + (parts.port.map { ":\($0)" } ?? "")
    }

    /// Decodes base64url, with or without padding (RFC 4648 §5); browsers of some years sent plain base64.
    private static func bytes(_ text: String) -> Data? {
        guard text.utf8.count <= 128 else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/").filter { $0 != "=" }
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    private static func text(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
    }
}
