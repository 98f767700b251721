// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import GatewaySyncTesting
import GatewayTesting
import Synchronization
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayOperator

@Suite("The drain before a stop", .timeLimit(.minutes(8)))
struct CallDrainTests {
    private let log = LogLines()
    private let time = ManualTime(start: 1_000)
    private let shared: GatewayShared
    /// Open calls of an earlier run.
    private let inherited = Inherited()

    private final class Inherited: Sendable {
        let count = Atomic<Int>(0)
    }
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() throws {
        (signals, signal) = AsyncStream.makeStream()
        let folder = try GatewayFolder()
        let live = try SettingsFixture(folder, folder.sections)
        shared = try live.shared()
    }

    private func call(_ number: UInt64) -> CallIdentifier { CallIdentifier(high: 1, low: number) }

    private func begin(_ numbers: UInt64...) {
        for number in numbers { shared.calls.begin(call(number), on: nil, at: 0) }
    }

    private func drain(_ patience: Duration) -> CallDrain {
        CallDrain(
            shared, PresentCalls(shared.calls) { [inherited] in inherited.count.load(ordering: .relaxed) },
            patience: patience, logger: log.logger, time: time.clock
        ) { [signals] in
            for await _ in signals { break }
        }
    }

    @Test(arguments: [(0, Duration.seconds(30)), (2, .zero)])
    func `nothing is awaited without a call or without patience`(calls: Int, patience: Duration) async {
        if calls > 0 { begin(1, 2) }
        await drain(patience).run()
        #expect(shared.isDraining)
        #expect(log.all.isEmpty)
    }

    @Test func `it ends one second after the last call`() async {
        begin(1, 2)
        async let end: Void = drain(.seconds(30)).run()
        await time.waitForSleepers([CallDrain.interval, .seconds(30)])
        #expect(shared.isDraining, "new calls are rejected from the first moment")
        shared.calls.end(call(1))
        time.advance(by: CallDrain.interval)
        await time.waitForSleepers([CallDrain.interval, .milliseconds(29_900)])
        shared.calls.end(call(2))
        time.advance(by: CallDrain.interval)
        await time.waitForSleepers([CallDrain.lastResponse, .milliseconds(29_800)])
        time.advance(by: CallDrain.lastResponse)
        await end
        #expect(
            log.all == [
                "notice draining: new calls but emergencies are refused, calls in progress may finish; a second signal "
                    + "ends at once [calls: 2, longest: 30.0 seconds]"
            ])
    }

    @Test func `a call of the run before is awaited until it ends`() async {
        inherited.count.store(1, ordering: .relaxed)
        async let end: Void = drain(.seconds(30)).run()
        await time.waitForSleepers([CallDrain.interval, .seconds(30)])
        inherited.count.store(0, ordering: .relaxed)
        time.advance(by: CallDrain.interval)
        await time.waitForSleepers([CallDrain.lastResponse, .milliseconds(29_900)])
        time.advance(by: CallDrain.lastResponse)
        await end
        #expect(log.all.count == 1 && log.text.contains("[calls: 1, longest: 30.0 seconds]"), "\(log.all)")
    }

    @Test func `an emergency call that begins meanwhile is awaited too`() async {
        begin(1)
        async let end: Void = drain(.seconds(30)).run()
        await time.waitForSleepers([CallDrain.interval, .seconds(30)])
        shared.calls.end(call(1))
        time.advance(by: CallDrain.interval)
        await time.waitForSleepers([CallDrain.lastResponse, .milliseconds(29_900)])
        begin(9)
        time.advance(by: CallDrain.lastResponse)
        await time.waitForSleepers([CallDrain.interval, .milliseconds(28_900)])
        shared.calls.end(call(9))
        time.advance(by: CallDrain.interval)
        await time.waitForSleepers([CallDrain.lastResponse, .milliseconds(28_800)])
        time.advance(by: CallDrain.lastResponse)
        await end
        #expect(log.all.count == 1)
    }

    @Test func `it ends with its patience, and logs how many calls go on`() async {
        begin(1, 2, 3)
        async let end: Void = drain(.seconds(5)).run()
        await time.waitForSleepers([CallDrain.interval, .seconds(5)])
        time.advance(by: .seconds(5))
        await end
        #expect(log.all.last == "notice calls are still in progress; they go on with the next start [calls: 3]")
    }

    @Test func `a second signal ends it at once`() async {
        begin(1)
        async let end: Void = drain(.seconds(86_400)).run()
        await time.waitForSleepers([CallDrain.interval, .seconds(86_400)])
        signal.yield()
        await end
        #expect(log.all.last == "notice calls are still in progress; they go on with the next start [calls: 1]")
    }
}
