// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewaySyncTesting
import Host
import TestFixtures
import Testing
import TrustFixtures

@testable import GatewaySync

@Suite("How long the sync side waits")
struct WaitingTests {
    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (64, 10), (Int.max, 10)])
    func `a backoff doubles up to its limit`(failures: Int, seconds: Int) {
        let backoff = Backoff(first: .seconds(1), limit: .seconds(10))
        #expect(backoff.delay(afterFailures: failures) == .seconds(seconds))
    }

    @Test(arguments: [(0.0, 90), (0.5, 100), (1.0, 110)])
    func `chance spreads a wait by its share`(chance: Double, seconds: Int) {
        var time = ServiceClock.system
        time.chance = { chance }
        let spread = time.spread(.seconds(100), by: 0.1)
        #expect(abs((spread - .seconds(seconds)) / .seconds(1)) < 0.001)
    }

    @Test(arguments: [
        ("7", 7), (" 7 ", 7), ("0", 0), ("999999999", 3600), ("99999999999999999999999", 3600),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60), ("Wed, 31 Dec 2025 23:59:40 GMT", 0),
    ])
    func `Retry-After is read as seconds or as a date`(value: String, seconds: Int) {
        #expect(RetryAfter.duration(value, now: ManualTime.start) == .seconds(seconds))
    }

    @Test(arguments: ["", "soon", "-1", "1.5", "14 Nov"])
    func `a Retry-After that says nothing is ignored`(value: String) {
        #expect(RetryAfter.duration(value, now: ManualTime.start) == nil)
    }

    @Test func `a ring while nobody waits ends the next wait`() async {
        // Asserts that both waits return: the first at once, since no time passes, the second only after 60 s.
        let signal = AsyncEvent()
        let time = ManualTime()
        signal.ring()
        signal.ring()
        await signal.wait(.seconds(60), time: time.clock)
        async let second: Void = signal.wait(.seconds(60), time: time.clock)
        await until { !time.sleeping.isEmpty }
        time.advance(by: .seconds(60))
        await second
    }

    @Test func `a ring, the end of the time and cancellation each end a wait`() async {
        let signal = AsyncEvent()
        let time = ManualTime()
        async let rung: Void = signal.wait(.seconds(60), time: time.clock)
        await until { !time.sleeping.isEmpty }
        signal.ring()
        await rung
        let cancelled = Task { await signal.wait(.seconds(60), time: time.clock) }
        await until { !time.sleeping.isEmpty }
        cancelled.cancel()
        await cancelled.value
        #expect(time.sleeping.isEmpty)
    }
}

@Suite("Text of the directory before it is shown")
struct ServerTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("käse ☎", "käse ☎"), ("a\u{1B}[31mb", "a\\u{1b}[31mb"), ("a\r\nb", "a\\u{d}\\u{a}b"),
        ("a\u{202E}b", "a\\u{202e}b"), ("a\u{0}b", "a\\u{0}b"),
    ])
    func `control and direction characters are escaped`(text: String, clean: String) {
        #expect(ServerText.clean(text) == clean)
    }

    @Test func `a long text is cut`() {
        #expect(ServerText.clean(String(repeating: "x", count: 5000)).count == ServerText.limit + 1)
    }
}
