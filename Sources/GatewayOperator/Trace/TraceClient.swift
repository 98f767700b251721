// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ControlClient {
    /// Orders a trace and passes each event to `take` until the trace ends.
    ///
    /// Cancel the task to end the trace early.
    ///
    /// - Throws: `ControlFailure` without a gateway, when it refuses, and when it ends in the middle of the trace; the errors
    ///   of `take`.
    func trace(_ order: TraceOrder, _ take: @escaping @Sendable (TraceLine) async throws -> Void) async throws {
        let query: KeyValuePairs<String, String?> = [
            "number": order.number ?? "", "call_id": order.callID ?? "", "trunk": order.trunk ?? "",
            "customer": order.customer ?? "",
            "seconds": order.seconds.map(String.init) ?? "", "numbers": order.numbers.rawValue,
        ]
        try await lines(of: TraceRoute.path, query: query) { line in
            try await take(try JSONDecoder().decode(TraceLine.self, from: Data(line.utf8)))
        }
    }
}
