// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Host

@Suite("A wall clock that was set")
struct ClockStepDetectorTests {
    @Test func `it has stood since it was read first or was set last`() {
        let wall = Mutex<Int64>(7)
        let steady = Mutex<Int64>(0)
        var steps = ClockStepDetector { steady.withLock { $0 } }
        func pass(seconds: Int64, setBy step: Int64 = 0) -> Int64? {
            steady.withLock { $0 += seconds * 1_000_000 }
            wall.withLock { $0 += (seconds + step) * 1_000_000 }
            return steps.step(of: { wall.withLock { $0 } })
        }
        #expect(!steps.hasStood(for: .zero), "nobody has read it")
        #expect(pass(seconds: 0) == nil)
        #expect(pass(seconds: 59) == nil)
        #expect(!steps.hasStood(for: .seconds(60)))
        #expect(pass(seconds: 1) == nil)
        #expect(steps.hasStood(for: .seconds(60)))
        #expect(pass(seconds: 1, setBy: -3_600) == -3_600_000_000)
        #expect(!steps.hasStood(for: .seconds(60)))
        #expect(pass(seconds: 60) == nil)
        #expect(steps.hasStood(for: .seconds(60)))
    }

    @Test func `a clock that is slewed was not set, however far it goes`() {
        let wall = Mutex<Int64>(0)
        let steady = Mutex<Int64>(0)
        var steps = ClockStepDetector { steady.withLock { $0 } }
        for _ in 0..<400 {
            #expect(steps.step(of: { wall.withLock { $0 } }) == nil)
            steady.withLock { $0 += 10_000_000 }
            wall.withLock { $0 += 10_500_000 }
        }
        #expect(steps.hasStood(for: .seconds(4_000)))
    }

    @Test func `two readings with a pause between them say nothing`() {
        let time = Mutex<Int64>(0)
        // Each look at the steady clock finds three seconds gone, as on a machine that is overloaded.
        var steps = ClockStepDetector {
            time.withLock { time in
                time += 3_000_000
                return time
            }
        }
        for _ in 0..<10 { #expect(steps.step(of: { time.withLock { $0 } }) == nil) }
    }

    @Test func `a reading is one look at the wall clock, and none where it took long`() {
        let steady = Mutex<Int64>(0)
        var steps = ClockStepDetector { steady.withLock { $0 } }
        #expect(steps.read { 100 } == ClockStepDetector.Reading(time: 100, step: nil))
        #expect(steps.read { 7_000_100 } == ClockStepDetector.Reading(time: 7_000_100, step: 7_000_000))
        let late = steps.read {
            steady.withLock { $0 += 300_000 }
            return 7_300_100
        }
        #expect(late == nil)
        #expect(steps.read { 7_300_100 } == ClockStepDetector.Reading(time: 7_300_100, step: nil))
    }
}
