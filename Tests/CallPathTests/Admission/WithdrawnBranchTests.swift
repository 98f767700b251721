// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore
import TestFixtures
import Testing

@testable import CallPath

/// Requirements: a branch that the gateway rejects leaves no trace in the call whose other branches go on (RFC 8224 §6.2.2).
@Suite("Branches that are taken back")
struct WithdrawnBranchTests {
    private let calls = CallsInProgress()
    private let trunk = TrunkCalls()
    private let call = CallIdentifier(high: 7919, low: 1)

    private func begin(_ branches: Int = 1) {
        for _ in 0..<branches { calls.begin(call, on: trunk, at: 0) }
    }

    @Test func `the only branch takes the call with it`() {
        #expect(calls.withdraw(call) == nil, "of an unknown call")
        begin()
        #expect(calls.withdraw(call) == nil)
        #expect(calls.count == 0 && trunk.count == 0)
    }

    @Test func `a call with one branch left is not forked`() {
        begin(2)
        #expect(calls.withdraw(call) == nil)
        #expect(calls.count == 1 && trunk.count == 1)
        #expect(!calls.answered(call))
        begin()
        #expect(calls.withdraw(call) == nil)
        #expect(calls.count == 1, "an answered call lasts until its BYE")
        calls.end(call)
        #expect(calls.count == 0 && trunk.count == 0)
    }

    @Test func `a call with two branches left is forked`() {
        begin(3)
        #expect(calls.withdraw(call) == nil)
        #expect(calls.failed(call, CallFailure(status: 480)) == nil)
        #expect(calls.answered(call))
    }

    @Test func `past the capacity a further branch of a known call counts, and its end too`() {
        let calls = CallsInProgress(capacity: 1)
        let other = CallIdentifier(high: 7919, low: 2)
        for name in [call, call, other] { calls.begin(name, on: nil, at: 0) }
        #expect(calls.withdraw(other) == nil && calls.withdraw(call) == nil)
        #expect(calls.count == 1)
    }

    /// Another worker got the 486 while this branch counted.
    @Test(arguments: [false, true]) func `the end that it held back is reported`(isTest: Bool) throws {
        let folder = TemporaryFolder()
        let ring = try UpdateRing(path: folder.path + "/signals.ring", capacity: 64)
        let reporter = CallReporter(updates: ring, calls: calls, secret: Secret(key0: 1, key1: 2))
        begin(2)
        #expect(calls.failed(call, CallFailure(status: 486, q850Cause: 17, rang: true)) == nil)
        reporter.withdrawn(call, isTest: isTest, at: Moment(milliseconds: 5, wallMicroseconds: 7))
        #expect(calls.count == 0 && trunk.count == 0)
        var updates: [CallUpdate] = []
        _ = ring.read(after: 0, limit: 10) { update, _ in updates.append(update) }
        #expect(updates.map(\.kind) == (isTest ? [] : [.failed]))
        #expect(updates.allSatisfy { $0.call == call && $0.status == 486 && $0.q850Cause == 17 && !$0.isOwn })
    }
}
