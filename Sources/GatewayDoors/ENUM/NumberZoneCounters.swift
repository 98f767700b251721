// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the queries of the zone since the start, for metrics. Any thread.
package final class NumberZoneCounters: Sendable {
    private final class Count: Sendable {
        let value = Atomic<UInt64>(0)
    }

    /// The outcomes of queries, and what got no response.
    package enum Event: Hashable, Sendable, CaseIterable {
        case outcome(NumberZone.Outcome)
        /// Of a source that no range allows.
        case foreign
        /// Above the limit of its source.
        case dropped
        /// A response, or shorter than a header.
        case ignored
        /// A response over UDP that the system did not send; its query has another outcome besides.
        case unsent

        package static var allCases: [Event] {
            NumberZone.Outcome.allCases.map(Event.outcome) + [.foreign, .dropped, .ignored, .unsent]
        }

        /// The name in metrics.
        package var name: String {
            switch self {
            case .outcome(let outcome): outcome.rawValue
            case .foreign: "not_allowed"
            case .dropped: "dropped"
            case .ignored: "ignored"
            case .unsent: "unsent"
            }
        }
    }

    private let counts = Dictionary(uniqueKeysWithValues: Event.allCases.map { ($0, Count()) })

    /// Creates counters at zero.
    package init() {}

    func add(_ event: Event) { counts[event]?.value.add(1, ordering: .relaxed) }

    /// Returns the count of an event.
    package func count(_ event: Event) -> UInt64 { counts[event]?.value.load(ordering: .relaxed) ?? 0 }

    /// The events that occurred, in the order of their names.
    package var all: [(label: String, count: UInt64)] {
        Event.allCases.map { (label: $0.name, count: count($0)) }.filter { $0.count > 0 }.sorted { $0.label < $1.label }
    }
}
