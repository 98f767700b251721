// SPDX-License-Identifier: Apache-2.0

import CallPath
import SeededRandom
import Testing

@Suite("Overload: new calls are shed before calls in progress suffer")
struct OverloadGuardTests {
    @Test(
        arguments: [
            (0.0, 0...0), (0.05, 0...0), (0.15, 0...0), (0.2, 85...100), (0.3, 430...445), (0.6, 925...940),
            (1.0, 985...995),
        ] as [(Double, ClosedRange<Int>)])
    func `the fuller the queue and the longer it is, the larger the share that is shed`(
        filling: Double, shed: ClosedRange<Int>
    ) {
        var guarding = OverloadGuard()
        let found = (0..<1000).count { guarding.sheds(at: filling, now: UInt64($0)) }
        #expect(shed.contains(found))
    }

    @Test func `a burst after a long silence sheds nothing`() {
        var guarding = OverloadGuard()
        _ = guarding.sheds(at: 0, now: 0)
        let found = (0..<100).count { _ in guarding.sheds(at: 0.2, now: 3_600_000) }
        #expect(found == 0)
    }

    @Test(arguments: [(8, 40), (9, 25), (10, 15)])
    func `what gathers while the thread finds no core for a moment is worked off, nobody is refused`(
        calls: Int, longest: Int
    ) {
        // 10 calls a millisecond are five sixths of what it can carry.
        let interrupted = Worker.after(4000, calls: calls, shed: 6.5, interruptedForUpTo: longest)
        #expect(interrupted.refused == 0)
        #expect(interrupted.lost == 0)
    }

    @Test func `at three times what it can carry, calls in progress lose nothing and throughput holds`() {
        // What is wanted of the gateway: a refusal so cheap that four fifths of the peak are left.
        let (peak, flooded) = (Worker.after(4000, calls: 12, shed: 6.5), Worker.after(4000, calls: 36, shed: 6.5))
        #expect(flooded.lost == 0)
        #expect(flooded.refused > 0)
        #expect(Double(flooded.accepted) >= 0.8 * Double(peak.accepted))
        #expect(flooded.longestQueue < Worker.room)
    }

    @Test(arguments: [14, 18, 24, 36, 48])
    func `with what a refusal really costs, the rest of the time goes to calls`(calls: Int) {
        let flooded = Worker.after(4000, calls: calls, shed: 9)
        // No rule can accept more: every call offered that is not carried takes its time to refuse.
        let whole = Worker.carried + 5 * Worker.inDialog
        #expect(Double(flooded.accepted) > 0.98 * Double(4_000_000 - 4000 * calls * 9) / (whole - 9))
        #expect(flooded.lost == 0)
        #expect(flooded.longestQueue < Worker.room)
    }

    @Test(arguments: [1, 2, 3])
    func `on a machine that others work on as well nine tenths of the rest go to calls`(seed: UInt64) {
        // Messages come in bursts, the recorder needs the core, neighbours make it a quarter slower or faster.
        let flooded = Worker.after(4000, calls: 36, shed: 6.5, restlessBy: seed)
        let rest = flooded.given - 4000 * 36 * 6.5
        #expect(Double(flooded.accepted) > 0.9 * rest / (Worker.carried + 5 * Worker.inDialog - 6.5))
        #expect(flooded.lost == 0)
    }

    @Test(arguments: [1, 3, 6])
    func `within a second after the flood everything is accepted again`(calls: Int) {
        var worker = Worker.after(2000, calls: 36, shed: 9)
        for _ in 0..<1000 { worker.millisecond(calls: calls) }
        worker.refused = 0
        for _ in 0..<1000 { worker.millisecond(calls: calls) }
        #expect(worker.refused == 0)
    }
}

/// One worker with a queue, in milliseconds: what came in and what became of it.
private struct Worker {
    /// Microseconds of work for a new call that is carried, and for each of the five messages that follow it: 83 for a
    /// whole call, as measured.
    static let (carried, inDialog) = (23.0, 12.0)
    /// Datagrams in a receive buffer of 8 MB, which the kernel counts twice, and those that count as full.
    static let (room, full) = (7000, 3500.0)
    /// Microseconds of work for a new call that is shed, with its ACK; some 9 to 10 as measured.
    private let shed: Double
    private var guarding = OverloadGuard()
    var accepted = 0
    var refused = 0
    var lost = 0
    var longestQueue = 0
    private var queue: [Bool] = []  // true: a new call
    private var time = 0
    /// In-dialog messages by the millisecond in which they come.
    private var following: [Int] = []
    private var overdrawn = 0.0
    private let isRestless: Bool
    private var chance: RepeatableRandom
    private var speed = 1.0
    /// Microseconds it has had.
    private(set) var given = 0.0
    /// Messages of a burst that is not complete.
    private var held: [Bool] = []

    /// Milliseconds it may be without a core at a time, each as likely; 0 for never.
    private let longestPause: Int
    /// Milliseconds it is without one from now on.
    private var pause = 0

    /// - Parameter seed: of a machine on which others work too; nil for a calm one.
    private init(shed: Double, restlessBy seed: UInt64?, longestPause: Int) {
        self.shed = shed
        isRestless = seed != nil
        chance = RepeatableRandom(seed: seed ?? 0)
        self.longestPause = longestPause
    }

    /// What a time with so many new calls a millisecond made of it.
    static func after(
        _ milliseconds: Int, calls: Int, shed: Double, restlessBy seed: UInt64? = nil, interruptedForUpTo pause: Int = 0
    ) -> Worker {
        var worker = Worker(shed: shed, restlessBy: seed, longestPause: pause)
        for _ in 0..<milliseconds { worker.millisecond(calls: calls) }
        return worker
    }

    mutating func millisecond(calls: Int) {
        time += 1
        if following.count <= time + 301 { following += Array(repeating: 0, count: 1000) }
        held += Array(repeating: true, count: calls) + Array(repeating: false, count: following[time])
        let came = !isRestless || time % 5 == 0 ? held : []
        if !came.isEmpty { held = [] }
        lost += max(0, queue.count + came.count - Self.room)
        queue += came.prefix(Self.room - queue.count)
        longestQueue = max(longestQueue, queue.count)
        let millisecond = microsecondsGiven()
        given += millisecond
        var left = millisecond - overdrawn
        var taken = 0
        while left > 0, taken < queue.count {
            // A read takes 32; where less is left nothing is asked.
            let waiting = queue.count - taken
            let filling = waiting < 32 ? 0 : Double(waiting) / Self.full
            if !queue[taken] {
                left -= Self.inDialog
            } else if guarding.sheds(at: filling, now: UInt64(time)) {
                refused += 1
                left -= shed
            } else {
                accepted += 1
                // It rings at once, is answered after 100 ms, and ends 200 ms later.
                for later in [1, 100, 101, 300, 301] { following[time + later] += 1 }
                left -= Self.carried
            }
            taken += 1
        }
        overdrawn = max(0, -left)
        queue.removeFirst(taken)
    }

    /// What the worker has of a millisecond.
    private mutating func microsecondsGiven() -> Double {
        if pause > 0 {
            pause -= 1
            return 0
        }
        if longestPause > 0, time % 250 == 0 { pause = Int.random(in: 1...longestPause, using: &chance) }
        guard isRestless else { return 1000 }
        if Double.random(in: 0..<1, using: &chance) < 0.02 { speed = .random(in: 0.75...1.25, using: &chance) }
        // The recorder's round.
        return 1000 * speed * (time % 45 < 6 ? 0.4 : 1)
    }
}
