// SPDX-License-Identifier: Apache-2.0

import CallPath
import Synchronization
package import Trust

/// Counts the requests for verifications by result, since the start of the gateway.
///
/// Any thread. The call path never takes its lock.
package final class VerificationCounters: Sendable {
    /// The result of one request.
    package enum Result: Hashable, Sendable {
        /// `passed`, or the cause that decided. `unsigned` is a request without a token, such as a heartbeat.
        case judged(TrustCause)
        /// A good token without attestation, which gets No-TN-Validation.
        case unattested
        /// The trunk verifies no calls at present.
        case notReady
        /// The client is not in `doors.verification.allow`.
        case notAllowed
        /// The request is no request for a verification.
        case invalid
        /// The connection was closed for want of a place.
        case crowded

        /// The result as the value of a label: a cause, `unattested`, `not_ready`, `not_allowed`, `invalid`, or `crowded`.
        package var label: String {
            switch self {
            case .judged(let cause): cause.name
            case .unattested: "unattested"
            case .notReady: "not_ready"
            case .notAllowed: "not_allowed"
            case .invalid: "invalid"
            case .crowded: "crowded"
            }
        }
    }

    private let counts = Mutex<[Result: UInt64]>([:])

    /// Counts the verification of a call; nil for one without rules.
    func add(_ call: VerifiedCall?) {
        guard let call else { return add(.notReady) }
        add(call.cause == .passed && call.verstat != .passed ? .unattested : .judged(call.cause))
    }

    /// Creates counters at zero.
    package init() {}

    /// Counts a request.
    package func add(_ result: Result) { counts.withLock { $0[result, default: 0] += 1 } }

    /// The results that occurred, in the order of their labels.
    package var all: [(label: String, count: UInt64)] {
        counts.withLock { $0 }.map { (label: $0.key.label, count: $0.value) }.sorted { $0.label < $1.label }
    }
}
