// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SIPCore
import Synchronization
import TestFixtures
import Testing

@testable import SIPTransport

@Suite("Priority of call threads", .timeLimit(.minutes(8)))
struct CallThreadPriorityTests {
    private static let (ordinary, realTime) = (Int(SCHED_OTHER), Int(SCHED_RR))

    @Test(arguments: [
        (wasRealTime: true, work: 0.1, share: 0.5, isRealTime: true), (true, 0.49, 0.5, true), (true, 0.5, 0.5, false),
        (false, 0.49, 0.5, false), (false, 0.4, 0.5, false), (false, 0.39, 0.5, true),
        // Four workers on two cores.
        (true, 0.3, 0.25, false), (false, 0.1, 0.25, true),
        (true, 0, 0, false), (false, 0, 0, false),
    ])
    func `a thread that is at work below its share of the time goes first, and again a fifth below`(
        wasRealTime: Bool, work: Double, share: Double, isRealTime: Bool
    ) {
        #expect(CallThreadPriority.isRealTime(wasRealTime, work: work, share: share) == isRealTime)
    }

    @Test func `the thread has the name, the niceness and the kind the system grants`() async throws {
        let (worker, thread) = try await start(share: 0.5)
        defer { worker.stop() }
        let granted = try #require(worker.priority)
        let stat = try thread.stat()
        #expect(stat[1] == "(herald-calls)")
        #expect(stat[18] == "\(granted.niceness)")
        #expect(try thread.policy() == Self.ordinary)
    }

    @Test func `a thread goes first while it is asked to and not at work all the time`() async throws {
        let (worker, thread) = try await start(share: 0.2)
        defer { worker.stop() }
        let granted = try #require(worker.priority)
        let first = granted.isRealTime ? Self.realTime : Self.ordinary
        let steps = [
            (asked: true, busy: false, policy: first), (true, true, Self.ordinary), (true, false, first),
            (false, false, Self.ordinary),
        ]
        for (isAsked, isBusy, policy) in steps {
            worker.setRealTime(isAsked)
            thread.isBusy.store(isBusy, ordering: .relaxed)
            #expect(try await thread.comes(to: policy), "asked: \(isAsked), busy: \(isBusy)")
            #expect(try thread.stat()[18] == "\(granted.niceness)")
        }
    }

    @Test func `without a share the thread may not go first`() async throws {
        let (worker, _) = try await start(share: 0)
        defer { worker.stop() }
        #expect(worker.priority?.isRealTime == false)
    }

    private func start(share: Double) async throws -> (TransportWorker, ObservedThread) {
        let worker = TransportWorker(
            sockets: [try UDPSocket(address: UDPSocketTests.loopback)], longestWait: 20, realTimeShare: share)
        let thread = ObservedThread()
        worker.start { BusyElement(thread) }
        try #require(await waits { thread.id.load(ordering: .acquiring) != 0 })
        return (worker, thread)
    }
}

/// The thread an element lives on.
private final class ObservedThread: Sendable {
    let id = Atomic<Int32>(0)
    let isBusy = Atomic<Bool>(false)

    /// Its fields as proc(5) counts them, less one.
    func stat() throws -> [Substring] {
        try String(contentsOfFile: "/proc/self/task/\(id.load(ordering: .acquiring))/stat", encoding: .utf8)
            .split(separator: " ")
    }

    func policy() throws -> Int { try #require(Int(stat()[40])) }

    /// Waits for a policy; false when it has not come after twenty seconds.
    func comes(to policy: Int) async throws -> Bool {
        for _ in 0..<4_000 {
            if try self.policy() == policy { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}

/// Keeps its thread at work while it is to be busy.
private final class BusyElement: SIPElement {
    var nextDeadline: UInt64? { thread.isBusy.load(ordering: .relaxed) ? 0 : nil }
    var filling = 0.0
    var followsPause = false
    private let thread: ObservedThread

    init(_ thread: ObservedThread) {
        self.thread = thread
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        thread.id.store(path.flatMap { Int32($0.split(separator: "/").last ?? "") } ?? -1, ordering: .releasing)
    }

    func receive(_ datagram: Span<UInt8>, by flow: Flow, at now: Moment) {}

    func exchangeOutgoing(for list: inout [OutgoingMessage]) -> Bool { false }

    func record(_ trouble: TransportTrouble) {}

    func sendFailed(_ token: DeliveryToken, at now: Moment) {}

    func fireTimers(at now: Moment) {
        while Moment.monotonicMilliseconds() <= now.milliseconds + 2 {}
    }
}
