// SPDX-License-Identifier: Apache-2.0

import Gateway
import Testing

@Suite("Overload: new calls are shed before calls in progress suffer")
struct OverloadGuardTests {
    @Test(arguments: [(0.0, 0), (0.15, 0), (0.375, 500), (0.6, 1000), (1.0, 1000)])
    func `the fuller the queue, the larger the share that is shed`(filling: Double, shed: Int) {
        var guarding = OverloadGuard()
        #expect((0..<1000).count { _ in guarding.sheds(at: filling) } == shed)
    }

    /// One worker with a queue, in milliseconds: what came in and what became of it.
    private struct Worker {
        /// Microseconds of work for a new call that is carried, one that is shed, and an in-dialog request.
        static let (carried, shed, inDialog) = (150.0, 12.0, 40.0)
        static let room = 180
        var queue: [Bool] = []  // true: a new call
        var guarding = OverloadGuard()
        var accepted = 0
        var refused = 0
        var lostInDialog = 0
        var longestQueue = 0

        mutating func millisecond(calls: Int, inDialog: Int) {
            for _ in 0..<calls where queue.count < Self.room { queue.append(true) }
            for _ in 0..<inDialog {
                if queue.count < Self.room { queue.append(false) } else { lostInDialog += 1 }
            }
            longestQueue = max(longestQueue, queue.count)
            var time = 1000.0
            while time > 0, let isCall = queue.first {
                let filling = Double(queue.count) / Double(Self.room)
                queue.removeFirst()
                if !isCall {
                    time -= Self.inDialog
                } else if guarding.sheds(at: filling) {
                    refused += 1
                    time -= Self.shed
                } else {
                    accepted += 1
                    time -= Self.carried
                }
            }
        }
    }

    @Test func `at three times what it can carry, calls in progress lose nothing and throughput holds`() {
        var peak = Worker()
        for _ in 0..<2000 { peak.millisecond(calls: 4, inDialog: 8) }
        var flooded = Worker()
        for _ in 0..<2000 { flooded.millisecond(calls: 14, inDialog: 8) }
        #expect(flooded.lostInDialog == 0)
        #expect(flooded.refused > 0)
        #expect(Double(flooded.accepted) >= 0.8 * Double(peak.accepted))
        #expect(flooded.longestQueue < Worker.room)
    }

    @Test func `when the flood ends everything is accepted again at once`() {
        var worker = Worker()
        for _ in 0..<1000 { worker.millisecond(calls: 14, inDialog: 8) }
        for _ in 0..<100 { worker.millisecond(calls: 1, inDialog: 4) }
        worker.refused = 0
        for _ in 0..<1000 { worker.millisecond(calls: 1, inDialog: 4) }
        #expect(worker.refused == 0)
    }
}
