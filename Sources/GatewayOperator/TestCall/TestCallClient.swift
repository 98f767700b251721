// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1

extension ControlClient {
    /// Asks what the gateway would do with a test call.
    ///
    /// - Throws: `ControlFailure` without a gateway, and with the reason if the gateway refuses.
    func plan(_ order: TestCallOrder) async throws(ControlFailure) -> TestCallPlan {
        try await get(TestCallRoute.path, query: order.query())
    }

    /// Has the gateway take the messages of a caller as a test call's, and passes its signs to `take` until it ends.
    ///
    /// Cancel the task to end the test. Errors are those of `trace`.
    ///
    /// - Parameters:
    ///   - caller: the address and port that the caller sends from.
    ///   - callID: the Call-ID of its INVITE.
    func begin(
        _ order: TestCallOrder, caller: String, callID: String,
        _ take: @escaping @Sendable (TestCallSign) async throws -> Void
    ) async throws {
        let query = order.query(caller: caller, callID: callID)
        try await lines(of: TestCallRoute.path, by: .POST, query: query) { line in
            try await take(try JSONDecoder().decode(TestCallSign.self, from: Data(line.utf8)))
        }
    }
}
