// SPDX-License-Identifier: Apache-2.0

import Host
import Synchronization

@testable import GatewayOperator

/// A gateway whose state the test sets.
final class FixedStatus: GatewayStatusSource {
    private let state: Mutex<GatewayStatus>
    private let samples: [CounterSample]

    init(_ status: GatewayStatus = FixedStatus.ready, counters: [CounterSample] = []) {
        state = Mutex(status)
        samples = counters
    }

    /// A gateway that may get calls.
    static let ready = GatewayStatus(
        gateway: "edge-1", version: "1.2.3", startedAt: 1_700_000_000, listening: ["127.0.0.1:5060"],
        branding: .init(isSettled: true, numbers: 3, brands: 2, generation: 7))

    func change(_ edit: (inout GatewayStatus) -> Void) { state.withLock { edit(&$0) } }

    func counters() async -> [CounterSample] { samples }

    func gauges() async -> [GaugeSample] {
        [GaugeSample(name: "herald_brand_numbers", help: "Numbers that have a brand", value: 3)]
    }

    func histograms() async -> [HistogramSample] { [] }

    func status() async -> GatewayStatus { state.withLock { $0 } }
}
