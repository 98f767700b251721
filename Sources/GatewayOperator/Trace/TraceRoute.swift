// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird

/// `GET /v1/trace` of the control socket: the events of a trace, one JSON object a line, until the trace ends.
enum TraceRoute {
    static let path = "/v1/trace"

    static func response(to request: Request, from source: any TraceSource) throws -> Response {
        let query = request.uri.queryParameters
        var order = TraceOrder()
        // An empty value selects all.
        func text(_ name: String) -> String? { query[Substring(name)].flatMap { $0.isEmpty ? nil : String($0) } }
        order.number = text("number")
        order.callID = text("call_id")
        order.trunk = text("trunk")
        order.customer = text("customer")
        if let seconds = text("seconds") {
            guard let count = Int(seconds), count > 0 else {
                return try ControlResponse.refusal("seconds must be a whole number from 1 on")
            }
            order.seconds = count
        }
        guard let numbers = text("numbers").map({ TraceOrder.Numbers(rawValue: $0) }) ?? .masked else {
            return try ControlResponse.refusal("numbers must be masked or full")
        }
        order.numbers = numbers
        do throws(TraceRefusal) {
            let encoder = JSONEncoder()
            let lines = try source.trace(order).map { String(decoding: try encoder.encode($0), as: UTF8.self) }
            return ControlResponse.lines(lines, to: request)
        } catch {
            return try ControlResponse.refusal(error.description, status: .conflict)
        }
    }
}
