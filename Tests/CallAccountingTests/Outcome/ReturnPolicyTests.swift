// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

@Suite("Returned calls: who called whom back")
struct ReturnPolicyTests {
    private func record(
        _ direction: CallUpdate.Direction, user: String, caller: UInt64 = 0, destination: UInt64 = 0
    ) -> CallRecord {
        CallRecord(
            call: CallIdentifier(high: 1, low: 1), direction: direction, caller: E164Number(digits: caller),
            destination: E164Number(digits: destination), subscriber: user, inviteAt: 0)
    }

    @Test func `the called number and the calling number of a subscriber are the same name`() {
        let policy = ReturnPolicy()
        let called = policy.subscriberKeys(of: record(.inbound, user: "0291234567", destination: 61_291_234_567))
        let calls = policy.subscriberKeys(of: record(.outbound, user: "1001", caller: 61_291_234_567))
        #expect(called.first == "+61291234567")
        #expect(calls == ["+61291234567", "user:1001"])
    }

    @Test func `an extension without a number is known by its user`() throws {
        let policy = ReturnPolicy()
        let called = try #require(policy.subscriberKeys(of: record(.inbound, user: "1001")).first)
        #expect(policy.subscriberKeys(of: record(.outbound, user: "1001", caller: 61_290_000_000)).contains(called))
        #expect(!policy.subscriberKeys(of: record(.outbound, user: "1002", caller: 61_290_000_000)).contains(called))
    }

    @Test func `a user part that is a number is that number`() {
        #expect(ReturnPolicy().subscriberKeys(of: record(.inbound, user: "+61291234567")) == ["+61291234567"])
    }

    @Test func `a group joins an extension and its direct number`() {
        let policy = ReturnPolicy(groups: ["1001": "sales", "+61291234567": "sales"])
        #expect(policy.subscriberKeys(of: record(.outbound, user: "1001")) == ["group:sales"])
        let called = record(.inbound, user: "0291234567", destination: 61_291_234_567)
        #expect(policy.subscriberKeys(of: called) == ["group:sales"])
    }

    @Test func `an unknown subscriber has no name`() {
        #expect(ReturnPolicy().subscriberKeys(of: record(.outbound, user: "")).isEmpty)
    }

    @Test(
        arguments: [
            (-1, nil), (0, 0), (59_999_999, 59), (259_200_000_000, 259_200), (259_200_000_001, nil),
        ] as [(Int64, Int?)])
    func `latency is whole seconds inside the window`(elapsed: Int64, latency: Int?) {
        #expect(ReturnPolicy().latency(originalEnd: 1_000, outboundInvite: 1_000 + elapsed) == latency)
    }

    @Test(arguments: CallOutcome.allCases)
    func `unanswered calls that were shown can be returned, all of them by option`(outcome: CallOutcome) {
        let call = ScriptedUpdates()
        var record = CallStateMachine(after: [call.invite(), call.provisional(180, at: 1)]).record
        record.outcome = outcome
        let unanswered: Set<CallOutcome> = [.missed, .busy, .rejected]
        #expect(ReturnPolicy().isOriginal(record) == unanswered.contains(outcome))
        #expect(ReturnPolicy(originals: .any).isOriginal(record))
    }

    @Test func `a call whose brand was never shown cannot be returned`() {
        let record = CallStateMachine(after: [ScriptedUpdates().invite(), ScriptedUpdates().failed(486, at: 1)]).record
        #expect(record.outcome == .busy)
        #expect(!ReturnPolicy(originals: .any).isOriginal(record))
    }
}
