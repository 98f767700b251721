// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import WebPages

/// One request on the control socket.
struct ControlRequest: Sendable {
    let method: HTTPMethod
    /// Path and query, percent-encoded.
    let target: String
    /// JSON; empty for none.
    let body: Data

    /// - Parameter query: names and values without percent encoding.
    init(_ method: HTTPMethod, _ target: String, query: KeyValuePairs<String, String?> = [:], body: Data = Data()) {
        self.method = method
        self.target = PagePath.with(target, query)
        self.body = body
    }

    var head: HTTPRequestHead {
        var headers: HTTPHeaders = ["Host": "herald", "Connection": "close", "Content-Length": "\(body.count)"]
        if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
    }
}
