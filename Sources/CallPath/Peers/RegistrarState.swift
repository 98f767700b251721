// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether a trunk's registrar sends calls to registered contacts through the gateway.
///
/// A change is reported, at most once an hour for each trunk. Any thread, no lock.
public final class RegistrarState: Sendable {
    /// The result of a registration.
    public enum Finding: UInt8, Hashable, Sendable {
        /// The registrar keeps the gateway in Path.
        case accepted = 1
        /// The registrar leaves Path out of its response.
        case ignored
        /// The PBX does not support Path.
        case notOffered
    }

    private static let pause: UInt64 = 3_600_000

    /// The trunk's name.
    public let trunk: String
    private let onNews: @Sendable (String, Finding) -> Void
    private let last = Atomic<UInt8>(0)
    /// Monotonic milliseconds after which the next report may follow.
    private let quietUntil = Atomic<UInt64>(0)

    /// - Parameter onNews: runs on the thread of the report, and must not wait.
    public init(trunk: String, onNews: @escaping @Sendable (String, Finding) -> Void) {
        self.trunk = trunk
        self.onNews = onNews
    }

    /// Records the result of a registration at a monotonic time in milliseconds.
    func record(_ finding: Finding, at now: UInt64) {
        guard last.load(ordering: .relaxed) != finding.rawValue else { return }
        guard finding != .accepted else { return last.store(finding.rawValue, ordering: .relaxed) }
        let quiet = quietUntil.load(ordering: .relaxed)
        guard quiet <= now,
            quietUntil.compareExchange(expected: quiet, desired: now + Self.pause, ordering: .relaxed).exchanged
        else { return }
        last.store(finding.rawValue, ordering: .relaxed)
        onNews(trunk, finding)
    }
}
