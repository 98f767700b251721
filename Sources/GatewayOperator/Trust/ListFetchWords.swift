// SPDX-License-Identifier: Apache-2.0

import GatewayStore

/// The state of the fetches of one list, for the operator.
struct ListFetchWords {
    private let state: StoredListFetch?

    /// - Parameter state: nil for a list that was never fetched.
    init(_ state: StoredListFetch?) { self.state = state }

    /// Whether the last fetch failed.
    var hasFailed: Bool { state.map { $0.attempts > 0 } ?? false }

    /// The last failures in a row, such as `the last 3 fetches failed: the server returned 404`.
    static func failure(_ count: Int, _ reason: String) -> String {
        (count == 1 ? "the last fetch failed" : "the last \(count) fetches failed") + ": \(reason)"
    }

    /// The last failures and the last success, such as `fetched at …, next at …`.
    var text: String {
        guard let state else { return "not fetched yet" }
        let fetched = state.fetchedAt.map { "fetched at \(OperatorTime.text($0))" } ?? "never fetched"
        let next = "next at \(OperatorTime.text(state.nextAt))"
        guard hasFailed else { return "\(fetched), \(next)" }
        return "\(Self.failure(state.attempts, state.reason)); \(fetched), \(next)"
    }
}
