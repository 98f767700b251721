// SPDX-License-Identifier: Apache-2.0

package import Branding
package import SIPCore
import Synchronization

/// What the call path counts; written by the worker, read by anybody.
///
/// One relaxed atomic addition a count, no lock and no allocation.
package final class GatewayCounters: Sendable {
    /// Things counted without further label.
    package enum Event: Int, CaseIterable, Sendable {
        case datagramsReceived, datagramsTruncated, datagramsUnsent
        case requestsForwarded, responsesForwarded, retransmissionsAbsorbed
        case forwardedStatelessly, responsesDropped, strangersRefused, strangersDropped
        case requestsRefused, optionsAnswered, inboundCalls, outboundCalls, callsBranded
        case logosTrimmed, reasonsTrimmed, namesTrimmed, overloadRefused
        case failovers, targetsUnavailable, callsRefusedByRate, callsRefusedByNumber, callsRefusedWhileDraining
        case callsShed, scannersDropped, loopsFound, registrationsWithoutPath
    }

    /// Room for the counts of one enumeration, by raw value or place in it.
    ///
    /// In the object itself, so that nothing is retained to count.
    private typealias Counts = InlineArray<32, Atomic<UInt64>>

    private let events: Counts
    private let passThroughs: Counts
    private let drops: Counts

    package init() {
        precondition(
            max(Event.allCases.count, PassThroughReason.allCases.count + 1, SIPIndexError.allCases.count)
                <= Counts.count,
            "more to count than there is room for")
        events = Counts { _ in Atomic(0) }
        passThroughs = Counts { _ in Atomic(0) }
        drops = Counts { _ in Atomic(0) }
    }

    func add(_ event: Event) { events[event.rawValue].wrappingAdd(1, ordering: .relaxed) }

    func add(_ reason: PassThroughReason) {
        passThroughs[Int(reason.rawValue)].wrappingAdd(1, ordering: .relaxed)
    }

    func add(_ error: SIPIndexError) {
        guard let position = SIPIndexError.allCases.firstIndex(of: error) else { return }
        drops[position].wrappingAdd(1, ordering: .relaxed)
    }

    /// How often something happened since the start.
    package func count(_ event: Event) -> UInt64 { events[event.rawValue].load(ordering: .relaxed) }

    /// Calls that went on without a brand, by reason.
    package func count(_ reason: PassThroughReason) -> UInt64 {
        passThroughs[Int(reason.rawValue)].load(ordering: .relaxed)
    }

    /// Datagrams that were no message, by reason.
    package func count(_ error: SIPIndexError) -> UInt64 {
        SIPIndexError.allCases.firstIndex(of: error).map { drops[$0].load(ordering: .relaxed) } ?? 0
    }
}
