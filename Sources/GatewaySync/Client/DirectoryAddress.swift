// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The directory's URL: scheme, host, port and an optional path, without the `/api` of its mount.
///
/// Both `https://host` and `https://host/api` name the same directory. Source: securenode-ios-sdk, "API Endpoints".
package struct DirectoryAddress: Hashable, Sendable, CustomStringConvertible {
    /// The two possible mount points of the API, in the order of the attempts.
    enum Mount: String, CaseIterable, Sendable {
        case api = "/api/"
        case root = "/"
    }

    /// Without a slash at the end.
    private let root: String
    /// Without brackets.
    let host: String
    let isSecure: Bool
    private let port: Int?

    /// Reads an `http` or `https` URL with a host, and without user, query or fragment.
    ///
    /// - Returns: nil for anything else.
    package init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            parts.scheme == "https" || parts.scheme == "http", parts.user == nil, parts.password == nil,
            parts.query == nil, parts.fragment == nil
        else { return nil }
        var root = Substring(text)
        while root.last == "/" { root.removeLast() }
        if root.hasSuffix("/api") { root.removeLast(4) }
        while root.last == "/" { root.removeLast() }
        self.root = String(root)
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        isSecure = parts.scheme == "https"
        port = parts.port
    }

    /// The port of an `https` address.
    var securePort: Int { port ?? 443 }

    package var description: String { root }

    /// Scheme, host and port, without path.
    private var origin: Substring {
        let start = root.index(root.startIndex, offsetBy: isSecure ? 8 : 7)
        return root[..<(root[start...].firstIndex(of: "/") ?? root.endIndex)]
    }

    /// The value of `Host`: the host, and the port unless it is the scheme's default.
    var authority: String { String(origin.drop { $0 != "/" }.dropFirst(2)) }

    /// Returns the path of a request's URL, with its mount and without query.
    func path(_ path: String, mount: Mount) -> String { root.dropFirst(origin.count) + mount.rawValue + path }

    /// Returns the URL of the same request over plain TCP to the TLS port, for a connection that adds TLS itself.
    func withoutTLS(_ url: String) -> String {
        "http://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port ?? 443)" + url.dropFirst(origin.count)
    }

    /// Returns the full URL of a request. Query values are percent-encoded here and nowhere else.
    func url(_ path: String, mount: Mount, query: [(name: String, value: String)] = []) -> String {
        var url = root + mount.rawValue + path
        var separator = "?"
        for (name, value) in query {
            url += separator + Self.encoded(name) + "=" + Self.encoded(value)
            separator = "&"
        }
        return url
    }

    /// Percent-encodes every byte but the unreserved ones, so that `+` travels as `%2B` (RFC 3986 §2.3).
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.append(byte)
            default:
                out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
