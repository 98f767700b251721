// SPDX-License-Identifier: Apache-2.0

import Benchmark
import CallAccounting

/// What becomes of a call, from its signals.
func outcomeBenchmarks() {
    let call = CallIdentifier(high: 1, low: 2)
    func update(_ kind: CallUpdate.Kind, _ milliseconds: Int64, _ status: UInt16 = 0) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: .inbound, call: call, wallMicroseconds: 1_767_225_600_000_000 + milliseconds * 1000,
            status: status, trunk: 1, caller: 12_025_550_123, destination: 12_025_550_142)
    }
    let texts = CallTexts(
        sipCallID: Array("1-4711@203.0.113.17".utf8), brandName: Array("Harbour Insurance 4711".utf8),
        brandID: Array("b-4711".utf8), subscriber: Array("+12025550142".utf8))
    let invited = update(.invite, 0)
    let others = [update(.provisional, 10, 180), update(.answered, 110, 200), update(.bye, 310)]
    Benchmark("outcome machine: an answered call, four signals") { benchmark in
        for _ in benchmark.scaledIterations {
            var machine = CallStateMachine(CallRecord(invited, texts: texts, trunk: "carrier"))
            for other in others { blackHole(machine.receive(other)) }
            blackHole(machine)
        }
    }
}
