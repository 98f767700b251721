// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1

/// One request on the control socket.
struct ControlRequest: Sendable {
    let method: HTTPMethod
    /// Path and query, percent-encoded.
    let target: String
    /// JSON; empty for none.
    let body: Data

    /// - Parameter query: names and values without percent encoding.
    init(_ method: HTTPMethod, _ target: String, query: KeyValuePairs<String, String> = [:], body: Data = Data()) {
        self.method = method
        let pairs = query.map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }
        self.target = target + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
        self.body = body
    }

    var head: HTTPRequestHead {
        var headers: HTTPHeaders = ["Host": "herald", "Connection": "close", "Content-Length": "\(body.count)"]
        if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
    }

    /// The unreserved characters of RFC 3986 stay as they are.
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
