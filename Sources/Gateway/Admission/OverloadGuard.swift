// SPDX-License-Identifier: Apache-2.0

/// Decides which new calls are turned away while more comes in than the worker can carry, so that calls in progress do
/// not suffer (the idea of RFC 7339: shed at the door what would only fail later).
///
/// Told how full the receive queue is; the fuller, the larger the share of new calls that is shed, from none at
/// `start` to all at `full`. A shed call costs a ninth of a carried one, so the queue drains and the share falls by
/// itself: no timer, no state to recover from. Pure; one worker owns it.
package struct OverloadGuard: Sendable {
    /// Filling of the queue, 0 to 1, at which shedding begins, and at which every new call is shed.
    package static let start = 0.15
    package static let full = 0.6

    /// Share of a shed call that is owed, so that shares come out exactly without chance.
    private var owed = 0.0

    package init() {}

    /// The share of new calls shed at a filling.
    package static func share(at filling: Double) -> Double {
        min(max((filling - start) / (full - start), 0), 1)
    }

    /// Whether the next new call is shed.
    package mutating func sheds(at filling: Double) -> Bool {
        guard filling > Self.start else {
            owed = 0
            return false
        }
        owed += Self.share(at: filling)
        guard owed >= 1 else { return false }
        owed -= 1
        return true
    }
}
