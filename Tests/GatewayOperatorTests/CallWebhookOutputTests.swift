// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewaySync
import Host
import Synchronization
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("The webhook of call records", .timeLimit(.minutes(8)))
struct CallWebhookOutputTests {
    private let calls: EndedCalls

    init() throws { calls = try EndedCalls() }

    private func output(_ url: String, timeout: Duration = .seconds(60)) -> CallWebhookOutput {
        CallWebhookOutput(calls.queue, CallWebhook(url: url, secret: "s3cret", timeout: timeout))
    }

    @Test func `each call is posted once, as the record that the file would have`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(204) }
        var output = output(receiver.url + "/calls")
        try calls.end(20)
        let due = try calls.queue.due(.file, limit: 20, now: 0)
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 20, hasMore: false))
        #expect(try await output.round(at: 5_000) == CallOutputRound())
        #expect(receiver.idempotencyKeys == due.map(\.call.callID).sorted())
        let first = try #require(due.first?.call)
        let body = receiver.requests.first { $0.idempotencyKey == first.callID }?.body
        #expect(body == (try Output.line(json: first.recordJSON)))
        await output.shutdown()
    }

    @Test func `a call that was not accepted is posted again after 2, 4, 8 seconds`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(500) }
        var output = output(receiver.url + "/calls")
        try calls.end(1)
        var now: Int64 = 0
        for (attempt, wait) in [2, 4, 8].enumerated() {
            let error = await #expect(throws: CallWebhookError.self) { try await output.round(at: now) }
            #expect(error?.problem.contains("500") == true)
            #expect(try await output.round(at: now + Int64(wait) - 1) == CallOutputRound(), "not before its time")
            now += Int64(wait)
            #expect(receiver.requests.count == attempt + 1)
        }
        await output.shutdown()
    }

    @Test func `the wait between two attempts ends at one hour`() {
        #expect((0...20).map { CallWebhookOutput.delay(afterAttempts: $0) }.prefix(4) == [2, 4, 8, 16])
        #expect(CallWebhookOutput.delay(afterAttempts: 10) == 2_048)
        #expect(CallWebhookOutput.delay(afterAttempts: 11) == 3_600)
        #expect(CallWebhookOutput.delay(afterAttempts: 1_000_000) == 3_600)
    }

    @Test func `one refused call does not hold back the others`() async throws {
        try calls.end(3)
        let refused = try #require(try calls.queue.due(.webhook, limit: 3, now: 0).first?.call.callID)
        let isMended = Mutex(false)
        let receiver = try FaultyPeer { request, _ in
            .status(request.idempotencyKey == refused && !isMended.withLock { $0 } ? 422 : 200)
        }
        var output = output(receiver.url + "/calls")
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 2, hasMore: false))
        #expect(try calls.waiting(.webhook) == 1)
        isMended.withLock { $0 = true }
        #expect(try await output.round(at: 1) == CallOutputRound())
        #expect(try await output.round(at: 2).sent == 1)
        #expect(receiver.idempotencyKeys.count { $0 == refused } == 2)
        #expect(receiver.requests.count == 4)
        await output.shutdown()
    }

    @Test func `a receiver that is away gets eight attempts a round, not all calls`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(503) }
        var output = output(receiver.url + "/calls")
        try calls.end(30)
        await #expect(throws: CallWebhookError.self) { try await output.round(at: 0) }
        #expect(receiver.requests.count == CallWebhookOutput.concurrency)
        #expect(try calls.waiting(.webhook) == 30)
        await output.shutdown()
    }

    @Test func `a receiver that is not there is an error with the next step`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(200) }
        receiver.close()
        var output = output(receiver.url + "/calls", timeout: .milliseconds(300))
        try calls.end(1)
        let error = await #expect(throws: CallWebhookError.self) { try await output.round(at: 0) }
        #expect(
            error?.description == """
                outcomes.webhook no response: Connection refused; check outcomes.webhook.url, the service behind it and the \
                firewall; the call waits in the ledger and is sent again
                """)
        #expect(try calls.waiting(.webhook) == 1)
        await output.shutdown()
    }

    @Test func `a request that a reload ends is no error of the receiver`() async throws {
        let receiver = try FaultyPeer { _, _ in .silence }
        let first = output(receiver.url + "/calls", timeout: .seconds(30))
        try calls.end(1)
        let round = Task {
            var output = first
            return try await output.round(at: 0)
        }
        await until { !receiver.requests.isEmpty }
        round.cancel()
        #expect(try await round.value == CallOutputRound())
        #expect(try calls.waiting(.webhook) == 1)
        await first.shutdown()
    }

    @Test func `a queue that refuses removals does not post a call twice`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(200) }
        var output = output(receiver.url + "/calls")
        try calls.end(2)
        try calls.setRemovals(fail: true)
        await #expect(throws: (any Error).self) { try await output.round(at: 0) }
        await #expect(throws: (any Error).self) { try await output.round(at: 1) }
        try calls.setRemovals(fail: false)
        _ = try await output.round(at: 2)
        #expect(receiver.requests.count == 2)
        #expect(try calls.waiting(.webhook) == 0)
        await output.shutdown()
    }
}

extension FaultyPeer {
    /// The idempotency keys of all requests, sorted.
    fileprivate var idempotencyKeys: [String] { requests.map(\.idempotencyKey).sorted() }
}

extension FaultyPeer.Request {
    fileprivate var idempotencyKey: String { headers["idempotency-key"] ?? "" }
}
