// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The connections of a door by HTTP that may be open at once, by client.
///
/// A client outside of the allow list gets a few short ones for its 403. Any thread.
package final class DoorPlaces: Sendable {
    /// Limits of number.
    package struct Limits: Sendable {
        /// Connections of all allowed clients, and of one of them.
        package var allowed = 512
        package var client = 256
        /// Connections of all other clients, and of one of them.
        package var others = 32
        package var other = 4

        package init() {}

        /// More than are ever open; connections without a place are closed at once.
        package var most: Int { allowed + others + 32 }
    }

    private struct State {
        var open: [[UInt8]: Int] = [:]
        var allowed = 0
        var others = 0
    }

    private let limits: Limits
    private let state = Mutex(State())

    package init(_ limits: Limits) { self.limits = limits }

    /// Gives a connection its place; false if there is none.
    package func enter(_ client: [UInt8], isAllowed: Bool) -> Bool {
        state.withLock { state in
            let (own, all) = (state.open[client, default: 0], isAllowed ? state.allowed : state.others)
            guard own < (isAllowed ? limits.client : limits.other), all < (isAllowed ? limits.allowed : limits.others)
            else { return false }
            state.open[client] = own + 1
            if isAllowed { state.allowed += 1 } else { state.others += 1 }
            return true
        }
    }

    /// Takes the place of a closed connection back.
    package func leave(_ client: [UInt8], isAllowed: Bool) {
        state.withLock { state in
            let rest = state.open[client, default: 1] - 1
            state.open[client] = rest > 0 ? rest : nil
            if isAllowed { state.allowed -= 1 } else { state.others -= 1 }
        }
    }
}
