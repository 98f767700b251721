// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host
import Synchronization
import Testing

/// The messages that a program sends to systemd.
private final class Messages: Sendable {
    private let list = Mutex<[String]>([])
    var all: [String] { list.withLock { $0 } }
    func add(_ text: String) { list.withLock { $0.append(text) } }
}

/// The progress of two threads, moved by hand.
private final class Threads: Sendable {
    private let counts = Mutex<[UInt64?]>([0, 0])
    var now: [UInt64?] { counts.withLock { $0 } }
    func set(_ next: [UInt64?]) { counts.withLock { $0 = next } }
}

@Suite("Reports to systemd")
struct SupervisorTests {
    private let messages = Messages()

    private var supervisor: Supervisor {
        Supervisor(watchdogInterval: .milliseconds(20)) { [messages] in messages.add($0) }
    }

    @Test func `states are written as sd_notify(3) has them`() {
        supervisor.report(.ready, .status("2 calls\nin progress"))
        supervisor.report(.stopping)
        supervisor.report(.alive)
        #expect(messages.all == ["READY=1\nSTATUS=2 calls in progress", "STOPPING=1", "WATCHDOG=1"])
    }

    @Test func `a reload carries the monotonic time, as notify-reload needs it`() throws {
        var before = timespec()
        clock_gettime(CLOCK_MONOTONIC, &before)
        supervisor.report(.reloading)
        let message = try #require(messages.all.first)
        let time = try #require(Int(message.split(separator: "=").last ?? ""))
        #expect(message.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(time >= Int(before.tv_sec) * 1_000_000)
    }

    @Test func `without NOTIFY_SOCKET nothing is sent and there is no watchdog`() {
        let current = Supervisor.current
        current.report(.ready)
        #expect(current.watchdogInterval == nil)
    }

    @Test func `the watchdog reports while every thread moves`() {
        let threads = Threads()
        let stuck = Messages()
        let watchdog = Watchdog(supervisor, progress: { threads.now }, onStuck: { stuck.add("\($0)") })
        watchdog.look()
        #expect(messages.all == ["WATCHDOG=1"])
        threads.set([1, 1])
        watchdog.look()
        #expect(messages.all.count == 2 && stuck.all.isEmpty)
    }

    @Test func `one thread without progress silences the watchdog until it moves again`() {
        let threads = Threads()
        let stuck = Messages()
        let watchdog = Watchdog(supervisor, progress: { threads.now }, onStuck: { stuck.add("\($0)") })
        watchdog.look()
        threads.set([1, 0])
        watchdog.look()
        threads.set([2, 0])
        watchdog.look()
        #expect(messages.all.count == 1)
        #expect(stuck.all == ["1", "1"])
        threads.set([3, 1])
        watchdog.look()
        #expect(messages.all.count == 2)
    }

    @Test func `a thread that has ended needs no progress`() {
        let threads = Threads()
        let watchdog = Watchdog(supervisor, progress: { threads.now }, onStuck: { _ in })
        threads.set([1, nil])
        watchdog.look()
        threads.set([2, nil])
        watchdog.look()
        #expect(messages.all.count == 2)
    }

    @Test func `the watchdog's own thread reports at half the interval until it is stopped`() async throws {
        let threads = Threads()
        let watchdog = Watchdog(
            supervisor,
            progress: {
                threads.set(threads.now.map { $0.map { $0 + 1 } })
                return threads.now
            }, onStuck: { _ in })
        watchdog.start()
        while messages.all.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        watchdog.stop()
    }

    @Test func `without a watchdog in systemd no thread starts`() {
        let watchdog = Watchdog(
            Supervisor(watchdogInterval: nil) { [messages] in messages.add($0) }, progress: { [1] },
            onStuck: { _ in })
        watchdog.start()
        #expect(messages.all.isEmpty)
    }
}
