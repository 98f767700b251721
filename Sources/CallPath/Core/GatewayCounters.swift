// SPDX-License-Identifier: Apache-2.0

public import Branding
public import SIPCore
import Synchronization

/// Counters of the call path. Any thread. A count is one relaxed atomic addition, without lock or allocation.
public final class GatewayCounters: Sendable {
    /// Events counted without further label.
    public enum Event: Int, CaseIterable, Sendable {
        case datagramsReceived, datagramsTruncated, datagramsUnsent
        case requestsForwarded, responsesForwarded, retransmissionsAbsorbed
        case forwardedStatelessly, responsesDropped, strangersRefused, strangersDropped
        case requestsRefused, optionsResponses, inboundCalls, outboundCalls, callsBranded
        case logosTrimmed, reasonsTrimmed, namesTrimmed, overloadRefused
        case failovers, targetsUnavailable, callsRefusedByRate, callsRefusedByNumber, callsRefusedWhileDraining
        case callsWithoutRoute
        case callsShed, lateInvites, scannersDropped, loopsFound, registrationsWithoutPath
    }

    /// The counts of one enumeration, by raw value or position. Inline, so that a count retains nothing.
    private typealias Counts = InlineArray<32, Atomic<UInt64>>

    private let events: Counts
    private let passThroughs: Counts
    private let drops: Counts

    public init() {
        precondition(
            max(Event.allCases.count, PassThroughReason.allCases.count + 1, SIPIndexError.allCases.count)
                <= Counts.count,
            "an enumeration has more cases than counters")
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

    /// The number of such events since the start.
    public func count(_ event: Event) -> UInt64 { events[event.rawValue].load(ordering: .relaxed) }

    /// Calls forwarded without a brand, by reason.
    public func count(_ reason: PassThroughReason) -> UInt64 {
        passThroughs[Int(reason.rawValue)].load(ordering: .relaxed)
    }

    /// Datagrams that could not be indexed, by reason.
    public func count(_ error: SIPIndexError) -> UInt64 {
        SIPIndexError.allCases.firstIndex(of: error).map { drops[$0].load(ordering: .relaxed) } ?? 0
    }
}
