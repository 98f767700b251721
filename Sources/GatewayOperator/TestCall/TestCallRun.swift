// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
package import Primitives
import SIPCore
import SIPTransport
import Synchronization
import UnixSignals

/// The operator's choices for a test call.
package struct TestCallWish: Sendable {
    /// The outcome that the command is to end well with.
    package enum Expectation: String, CaseIterable, Sendable { case answered, missed, declined, returned }

    package var trunk: String?
    package var from: String?
    package var to: String
    package var attestation = Attestation.none
    package var expectation: Expectation?
    /// Seconds of ringing before the CANCEL.
    package var ring = 15
    /// Seconds from the 2xx to the BYE.
    package var talk = 3
    /// Seconds for the call back.
    package var wait = 60

    package init(to: String) { self.to = to }

    /// The first invalid option with its remedy; nil where all are valid.
    package var problem: String? {
        for (name, value, range) in [("--ring", ring, 1...120), ("--talk", talk, 1...120), ("--wait", wait, 1...600)]
        where !range.contains(value) {
            return "\(name) takes \(range.lowerBound)s to \(range.upperBound)s"
        }
        return order.problem
    }

    /// The order for the gateway.
    var order: TestCallOrder {
        var order = TestCallOrder(to: to)
        (order.trunk, order.from, order.awaitsReturn) = (trunk, from, expectation == .returned)
        // The timers of SIP beside the times of the operator.
        order.seconds = min(TestCallOrder.longest, ring + talk + (order.awaitsReturn ? wait : 0) + 120)
        return order
    }

    func times(_ plan: TestCallPlan) -> TestCallMachine.Times {
        var times = TestCallMachine.Times()
        (times.ring, times.talk) = (UInt64(ring) * 1000, UInt64(talk) * 1000)
        times.wait = expectation == .returned ? UInt64(wait) * 1000 : 0
        times.awaitsAfterAnswer = plan.returnsAnswered
        return times
    }
}

/// `herald test-call`: one call through the running gateway to the PBX alone.
///
/// The command is the caller. The gateway takes the messages of its Call-ID as a trunk's for as long as the control connection
/// is open, and walks them as any others. A trace of the call shows what the gateway made of it.
package struct TestCallRun: Sendable {
    /// Time for the last lines of the trace.
    private static let afterglow: UInt64 = 300
    /// Longest wait for the decision in the trace, which comes late on a busy machine.
    private static let patience: UInt64 = 5000
    /// Longest wait for a gateway that restarts, to end a call there.
    private static let restartPatience = Duration.seconds(30)

    private enum Event: Sendable {
        case message([UInt8])
        case tick
        case interrupted
        /// The connection to the gateway has ended.
        case disconnected
        case sign(TestCallSign)
        /// The gateway has ended without a sign, and may come again.
        case away
        case traced(TraceLine)
        /// The gateway cannot be reached any more, or has refused.
        case failed(String)
        /// The trace has ended, or has not begun.
        case untraced(String)
    }

    private let client: ControlClient
    private let wish: TestCallWish
    private let form: TableForm
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - runtimeFolder: the folder of the control socket.
    ///   - form: the width of ladder and report.
    ///   - write: receives the ladder as it grows.
    package init(
        runtimeFolder: String, _ wish: TestCallWish, _ form: TableForm = .narrow,
        write: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        client = ControlClient(folder: runtimeFolder)
        (self.wish, self.form) = (wish, form)
        self.write = write
    }

    /// Makes the call and returns its report.
    ///
    /// - Throws: `CommandFailure` when no gateway runs, and when it refuses the call.
    package func run() async throws -> TestCallReport {
        try await CommandFailure.reported { try await call() }
    }

    private func call() async throws -> TestCallReport {
        let plan = try await client.plan(wish.order)
        let (events, inbox) = AsyncStream.makeStream(of: Event.self)
        defer { inbox.finish() }
        let socket = try await TestCallSocket(plan) {
            inbox.yield(.message($0))
        } disconnected: {
            inbox.yield(.disconnected)
        }
        let messages = TestCallMessages(
            plan, port: socket.port, mediaPort: socket.mediaPort, attestation: wish.attestation,
            token: Self.token(16))
        let machine = TestCallMachine(messages, wish.times(plan), branch: Self.token(12))
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let tasks: [Task<Void, Never>] = [
            Task { for await _ in signals { inbox.yield(.interrupted) } },
            Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(50))
                    inbox.yield(.tick)
                }
            },
            Task { await follow(messages, inbox) }, Task { await hold(plan, messages, inbox) },
        ]
        defer { for task in tasks { task.cancel() } }
        do {
            let report = try await play(machine, plan, events, socket)
            await socket.close()
            return report
        } catch {
            await socket.close()
            throw error
        }
    }

    /// Letters and digits by chance; none is long enough to pass for a telephone number.
    private static func token(_ count: Int) -> String {
        String((0..<count).map { _ in "abcdefghijkmnpqrstuvwxyz".randomElement() ?? "x" })
    }

    /// Keeps the test open at the gateway; after a restart it is opened again, so that the call can be ended.
    private func hold(
        _ plan: TestCallPlan, _ messages: TestCallMessages, _ inbox: AsyncStream<Event>.Continuation
    ) async {
        var order = wish.order
        (order.trunk, order.from) = (plan.trunk, plan.from)
        let caller = "\(TestCallService.bracketed(plan.host)):\(messages.port)"
        let hasOpened = Mutex(false)
        var deadline: ContinuousClock.Instant?
        while !Task.isCancelled {
            do {
                try await client.begin(order, caller: caller, callID: messages.callID) { sign in
                    if sign.state == .open { hasOpened.withLock { $0 = true } }
                    inbox.yield(.sign(sign))
                }
                return
            } catch {
                let now = ContinuousClock.now
                let end = deadline ?? now + Self.restartPatience
                deadline = end
                guard hasOpened.withLock({ $0 }), !Task.isCancelled, now < end else {
                    inbox.yield(.failed("\(error)"))
                    return
                }
                inbox.yield(.away)
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    /// Follows the call in a trace: its own Call-ID, and for a call back all calls of the number.
    private func follow(_ messages: TestCallMessages, _ inbox: AsyncStream<Event>.Continuation) async {
        var order = TraceOrder()
        order.numbers = .full
        order.seconds = wish.order.seconds
        if wish.expectation == .returned { order.number = messages.plan.from } else { order.callID = messages.callID }
        do {
            try await client.trace(order) { inbox.yield(.traced($0)) }
        } catch {
            if !Task.isCancelled { inbox.yield(.untraced("\(error)")) }
        }
    }

    /// Plays the call to its end.
    private func play(
        _ machine: TestCallMachine, _ plan: TestCallPlan, _ events: AsyncStream<Event>, _ socket: TestCallSocket
    ) async throws -> TestCallReport {
        var machine = machine
        var report = TestCallReport(plan, wish.expectation, callID: machine.messages.callID, form)
        var (isOpen, isTraced, hasBegun) = (false, false, false)
        var (end, latest) = (UInt64.max, UInt64(0))
        func send(_ texts: [String]) { for text in texts { socket.send(text) } }
        for await event in events {
            let now = Moment.now().milliseconds
            switch event {
            case .message(let bytes): send(machine.receive(bytes, at: now))
            case .tick:
                if hasBegun { send(machine.tick(at: now)) }
            case .interrupted where !hasBegun: throw CommandFailure("interrupted before the call")
            // The second Ctrl-C waits for no response, and one after the call for no decision.
            case .interrupted where machine.isOver || machine.result.interruption != nil: (end, latest) = (now, now)
            case .interrupted: send(machine.interrupt("interrupted", at: now))
            case .away:
                machine.isAdmitted = false
                send(machine.interrupt("the gateway went away", at: now))
            case .sign(let sign):
                isOpen = isOpen || sign.state == .open
                if sign.state == .open { machine.isAdmitted = true }
                let isEnd = sign.state == .end || sign.state == .draining
                if isEnd { send(machine.interrupt(sign.reason ?? "the gateway drains", at: now)) }
            case .traced(let line):
                isTraced = true
                write(report.add(line))
            case .failed(let problem) where !hasBegun: throw CommandFailure(problem)
            case .untraced(let problem) where !hasBegun: throw CommandFailure(problem)
            case .failed(let problem):
                send(machine.interrupt(problem, at: now))
                (end, latest) = (now, now)
            case .untraced(let problem): report.gap = problem
            case .disconnected where !hasBegun:
                throw CommandFailure("the gateway has closed the connection of the test call; see its log")
            case .disconnected where machine.isOver: break
            case .disconnected:
                send(machine.interrupt("the connection to the gateway was closed", at: now))
                (end, latest) = (now, now)
            }
            if isOpen, isTraced, !hasBegun {
                hasBegun = true
                send(machine.begin(at: now))
            }
            if machine.isOver, end == .max { (end, latest) = (now + Self.afterglow, now + Self.patience) }
            let isTold = report.hasDecision || report.gap != nil || machine.result.isSilent
            if now >= end, isTold || now >= latest { break }
        }
        report.result = machine.result
        return report
    }
}
