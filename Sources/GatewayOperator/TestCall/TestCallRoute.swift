// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOHTTP1

/// `/v1/test-call` of the control socket: GET responds with the plan of a test call; POST admits the caller, and responds with
/// signs, one JSON object a line. The test ends with the response.
enum TestCallRoute {
    static let path = "/v1/test-call"

    static func plan(_ request: Request, _ source: any TestCallSource) async throws -> Response {
        do throws(ControlProblem) {
            let plan = try await source.plan(try order(of: request))
            return try encoded(plan)
        } catch {
            return try ControlResponse.refusal(error.error, status: .conflict)
        }
    }

    static func begin(_ request: Request, _ source: any TestCallSource) async throws -> Response {
        do throws(ControlProblem) {
            let query = request.uri.queryParameters
            let signs = try await source.begin(
                try order(of: request), caller: query["caller"].map(String.init) ?? "",
                callID: query[Substring(TestCallOrder.secret)].map(String.init) ?? "")
            let lines = signs.map { String(decoding: (try? JSONEncoder().encode($0)) ?? Data(), as: UTF8.self) }
            return ControlResponse.lines(lines, to: request)
        } catch {
            return try ControlResponse.refusal(error.error, status: .conflict)
        }
    }

    private static func encoded(_ plan: TestCallPlan) throws(ControlProblem) -> Response {
        do {
            return try ControlResponse.value(plan)
        } catch {
            throw ControlProblem(error: "the gateway cannot write its response as JSON: \(error)")
        }
    }

    private static func order(of request: Request) throws(ControlProblem) -> TestCallOrder {
        let query = request.uri.queryParameters
        func text(_ name: String) -> String? { query[Substring(name)].flatMap { $0.isEmpty ? nil : String($0) } }
        var order = TestCallOrder(to: text("to") ?? "")
        order.trunk = text("trunk")
        order.from = text("from")
        order.awaitsReturn = text("returned") == "true"
        if let seconds = text("seconds") { order.seconds = Int(seconds) ?? 0 }
        return order
    }
}
