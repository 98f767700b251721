// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import GatewaySync
import Testing
import Trust

@testable import GatewayOperator

@Suite("Times and order of fetches")
struct FetchRulesTests {
    private static let now: Int64 = 1_700_000_000
    private static let day: Int64 = 86_400

    @Test(
        arguments: [
            (1, 30), (2, 120), (3, 600), (4, 3600), (5, 3600), (1000, 3600),
        ] as [(Int, Int64)])
    func `the pause after a failure grows to an hour, spread by a fifth`(count: Int, pause: Int64) {
        let pauses = [0, 0.5, 0.999].map {
            FetchTimes.pause(afterFailures: count, .certificateUnreachable, chance: $0)
        }
        #expect(pauses[1] == pause)
        #expect(pauses[0] == pause * 4 / 5 && pauses[2] <= pause * 6 / 5 && pauses[2] > pause)
    }

    @Test(arguments: [TrustCause.certificateMalformed, .untrustedSigner, .certificatePolicy, .noAuthority, .revoked])
    func `a certificate that cannot be used is left alone for a day`(cause: TrustCause) {
        #expect(FetchTimes.pause(afterFailures: 1, cause, chance: 0.5) == Self.day)
    }

    /// Seconds from now to the end in the store and to the refresh, by those of the host and of the certificate.
    @Test(
        arguments: [
            (nil, 365 * day, day, day * 8 / 10), (0, 365 * day, day, day * 8 / 10), (60, 365 * day, day, day * 8 / 10),
            (10 * day, 365 * day, 10 * day, 8 * day), (3650 * day, 365 * day, 365 * day, 292 * day),
            (3650 * day, 3 * day, 3 * day, 2 * day), (.max / 4, 3 * day, 3 * day, 2 * day),
            (nil, day / 2, day / 2, 3600), (nil, 60, 60, 3600), (nil, 0, 0, day), (7 * day, -day, -day, day),
        ] as [(Int64?, Int64, Int64, Int64)])
    func `a certificate is kept for a day at least and never past its end`(
        lifetime: Int64?, end: Int64, expires: Int64, next: Int64
    ) {
        let times = FetchTimes.refresh(at: Self.now, lifetime: lifetime, end: Self.now + end, chance: 0)
        #expect(times.expires == Self.now + expires && times.next == Self.now + next)
        let early = FetchTimes.refresh(at: Self.now, lifetime: lifetime, end: Self.now + end, chance: 0.999)
        #expect(early.expires == times.expires && early.next <= times.next && early.next >= Self.now + 3600)
    }

    // MARK: Queue

    @Test func `four fetches run at once, and two of them from one host`() throws {
        var queue = FetchQueue()
        for number in 0..<6 { #expect(queue.add("https://A.example/\(number)", .unknown, rules: []) == true) }
        for number in 0..<6 { #expect(queue.add("https://b\(number).example/1", .renewal, rules: []) == true) }
        var started: [FetchQueue.Order] = []
        while let step = queue.next(at: 0) {
            guard case .start(let order) = step else { break }
            started.append(order)
        }
        #expect(started.map(\.host) == ["a.example", "a.example", "b0.example", "b1.example"])
        #expect(queue.runningCount == 4 && queue.waitingCount == 8)
        queue.finish(started[0], nil, wasSkipped: false, at: 0)
        #expect(
            queue.next(at: 0)
                == .start(.init(address: "https://A.example/2", host: "a.example", reason: .unknown, rules: [])))
        #expect(queue.next(at: 0) == nil)
    }

    @Test func `refreshes have two fetches of their own beside any number of addresses of calls`() throws {
        var queue = FetchQueue()
        for number in 0...FetchQueue.mostWaiting { _ = queue.add("https://a.example/\(number)", .unknown, rules: []) }
        func started() -> [FetchQueue.Order] {
            var started: [FetchQueue.Order] = []
            while case .start(let order)? = queue.next(at: 0) { started.append(order) }
            return started
        }
        let calls = started()
        #expect(calls.map(\.host) == ["a.example", "a.example"])
        // The host of the flood is that of a stored certificate too, and sends nothing.
        for order in calls { queue.finish(order, .timeout(.seconds(5)), wasSkipped: false, at: 0) }
        for order in started() { queue.finish(order, .timeout(.seconds(5)), wasSkipped: false, at: 0) }
        #expect(queue.skippedHosts(at: 0) == 1)
        for name in ["a", "a", "b", "c"] { _ = queue.add("https://\(name).example/spc.pem", .refresh, rules: []) }
        guard case .start(let first)? = queue.next(at: 0), case .start(let second)? = queue.next(at: 0) else {
            Issue.record("no two refreshes start")
            return
        }
        #expect([first.host, second.host] == ["a.example", "b.example"] && second.reason == .refresh)
        // The third one waits, and calls have their own four.
        guard case .skip(let order, _)? = queue.next(at: 0) else {
            Issue.record("the host of the flood is skipped for calls")
            return
        }
        #expect(order.reason == .unknown && queue.takesRefreshes)
        for number in 0..<FetchQueue.mostRefreshesWaiting {
            _ = queue.add("https://d.example/\(number)", .refresh, rules: [])
        }
        let isTaken = queue.add("https://e.example/", .refresh, rules: [])
        #expect(!queue.takesRefreshes && !isTaken)
    }

    @Test func `an address waits once, and a full queue takes no more`() {
        var queue = FetchQueue()
        for _ in 0..<2 {
            for number in 0..<FetchQueue.mostWaiting {
                #expect(queue.add("https://a\(number).example/", .unknown, rules: []) == true)
            }
        }
        #expect(queue.waitingCount == FetchQueue.mostWaiting)
        #expect(queue.add("https://further.example/", .unknown, rules: []) == false)
    }

    @Test func `an address that waits is allowed to all who ask for it, and to nobody else`() throws {
        var queue = FetchQueue()
        var own = AddressRules()
        own.allowsPrivate = true
        for (name, rules) in [("a", AddressRules()), ("b", AddressRules()), ("a", own), ("a", AddressRules())] {
            _ = queue.add("https://\(name).example/", .unknown, rules: [rules])
        }
        for expected in [[AddressRules(), own], [AddressRules()]] {
            guard case .start(let order) = queue.next(at: 0) else {
                Issue.record("nothing starts")
                return
            }
            #expect(order.rules == expected)
        }
    }

    @Test func `a host without a response is skipped for a minute after three attempts`() throws {
        var queue = FetchQueue()
        for number in 0..<6 { _ = queue.add("https://a.example/\(number)", .unknown, rules: []) }
        for _ in 0..<3 {
            guard case .start(let order) = queue.next(at: 0) else {
                Issue.record("nothing starts")
                return
            }
            queue.finish(order, .timeout(.seconds(5)), wasSkipped: false, at: 0)
        }
        guard case .skip(let order, let failure) = queue.next(at: 1) else {
            Issue.record("nothing is skipped")
            return
        }
        #expect(failure == .timeout(.seconds(5)) && queue.skippedHosts(at: 1) == 1)
        queue.finish(order, failure, wasSkipped: true, at: 1)
        guard case .start(let last) = queue.next(at: 60) else {
            Issue.record("the pause does not end")
            return
        }
        queue.finish(last, nil, wasSkipped: false, at: 60)
        #expect(queue.skippedHosts(at: 60) == 0)
    }

    // MARK: Pace

    @Test func `a flood builds ten sets of signers at once, and then one in thirty seconds`() {
        var pace = SnapshotPace()
        var taken: [Int64] = []
        for second in Int64(0)..<300 where pace.take(at: second) { taken.append(second) }
        #expect(taken.prefix(10) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(taken.count == 10 + 9, "\(taken)")
        // Calls that change nothing give the ten back.
        let quiet: Int64 = 300 + 10 * SnapshotPace.interval
        let again = (0..<12).map { _ in pace.take(at: quiet) }
        #expect(again.count { $0 } == 10)
    }

    @Test func `a permission that was not needed comes back`() {
        var pace = SnapshotPace()
        for second in Int64(0)..<50 {
            #expect(pace.take(at: second) == true)
            pace.giveBack()
        }
    }
}
