// SPDX-License-Identifier: Apache-2.0

import Atomics
package import Branding
package import SIPCore

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
        case callsShed, scannersDropped, loopsFound
    }

    private let events: [ManagedAtomic<UInt64>]
    private let passThroughs: [ManagedAtomic<UInt64>]
    private let drops: [ManagedAtomic<UInt64>]

    package init() {
        events = Event.allCases.map { _ in ManagedAtomic(0) }
        passThroughs = (0...PassThroughReason.allCases.count).map { _ in ManagedAtomic(0) }
        drops = SIPIndexError.allCases.map { _ in ManagedAtomic(0) }
    }

    func add(_ event: Event) { events[event.rawValue].wrappingIncrement(ordering: .relaxed) }

    func add(_ reason: PassThroughReason) {
        passThroughs[Int(reason.rawValue)].wrappingIncrement(ordering: .relaxed)
    }

    func add(_ error: SIPIndexError) {
        guard let position = SIPIndexError.allCases.firstIndex(of: error) else { return }
        drops[position].wrappingIncrement(ordering: .relaxed)
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
