// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Foundation
import SIPCore
import Synchronization
import Testing
import Trust
import TrustFixtures

/// Requirements: a call ends once in the accounts, whatever two workers do with its branches at the same time.
@Suite("Two workers at a forked call", .timeLimit(.minutes(8)))
struct WithdrawnBranchRaceTests {
    /// Work of two threads that begin at the same moment.
    private final class Race: Sendable {
        private let ready = Atomic<Int>(0)
        private let ended = Atomic<Int>(0)
        let steps = Atomic<Int>(0)

        /// - Parameter delay: steps by which the second thread begins later.
        func run(_ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void, delay: Int) {
            start(first, delay: 0)
            start(second, delay: delay)
            while ended.load(ordering: .acquiring) < 2 { sched_yield() }
        }

        private func start(_ work: @escaping @Sendable () -> Void, delay: Int) {
            Thread.detachNewThread { [self] in
                ready.add(1, ordering: .acquiringAndReleasing)
                while ready.load(ordering: .acquiring) < 2 { sched_yield() }
                for _ in 0..<delay { steps.add(1, ordering: .relaxed) }
                work()
                ended.add(1, ordering: .acquiringAndReleasing)
            }
        }
    }

    /// A call of a good token with a second branch, whose number the token does not have.
    private struct Fork {
        let gateway: GatewayUnderTest
        /// The INVITE of the first branch, as the PBX got it.
        let forwarded: String
        private let branch: [UInt8]

        init(_ callID: String) throws {
            var setting = SignedCallSetting()
            setting.rules = { $0.onFailed = .reject }
            setting.options = { $0.shards = 8 }
            let good = try TrustLab.shared.signed(TrustLab.claims())
            var invite = SignedInvite(identity: [good], callID: callID)
            gateway = try setting.gateway()
            forwarded = try #require(
                gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            (invite.uri, invite.to) = ("sip:+12025558888@192.0.2.10", "<sip:+12025558888@192.0.2.10>")
            branch = Self.bytes(invite.text.replacing(";rport", with: "x;rport"))
        }

        /// One worker gets the second branch while another one gets the PBX's response to the first.
        ///
        /// - Returns: what each has sent to the trunk.
        func race(_ status: String, delay: Int) -> (one: [String], other: [String]) {
            let (branch, reply) = (branch, Self.bytes(response(status, to: forwarded)))
            let now = gateway.now
            nonisolated(unsafe) let (one, other) = (gateway.gateway, gateway.secondWorker())
            Race().run(
                { one.receive(branch.span, by: Flow(source: GatewayUnderTest.trunk, socket: 0), at: now) },
                { other.receive(reply.span, by: Flow(source: GatewayUnderTest.pbx, socket: 0), at: now) },
                delay: delay)
            return (one.outgoing.to(GatewayUnderTest.trunk), other.outgoing.to(GatewayUnderTest.trunk))
        }

        private static func bytes(_ text: String) -> [UInt8] {
            Array(text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8)
        }
    }

    /// One worker rejects a branch for its signature while another one gets the 486 of the branch that has rung.
    @Test func `a branch that is rejected while the other one ends leaves one end of the call`() throws {
        for round in 0..<150 {
            let fork = try Fork("race\(round)@carrier.example")
            let gateway = fork.gateway
            _ = gateway.receive(response("180 Ringing", to: fork.forwarded), from: GatewayUnderTest.pbx)
            let (one, other) = fork.race("486 Busy Here", delay: round * 20)
            #expect(one.count { $0.hasPrefix("SIP/2.0 438 ") } == 1)
            #expect(other.count { $0.hasPrefix("SIP/2.0 486 ") } == 1)
            #expect(gateway.shared.calls.count == 0, "round \(round)")
            let updates = gateway.updates()
            let call = try #require(updates.first).call
            let ends = updates.filter { $0.kind == .failed && $0.call == call }
            #expect(ends.map(\.status) == [486] && ends.allSatisfy { !$0.isOwn }, "round \(round)")
            let rejected = updates.filter { $0.kind == .failed && $0.call != call }
            #expect(rejected.map(\.status) == [438] && rejected.allSatisfy(\.isOwn), "round \(round)")
        }
    }

    /// One worker rejects a branch while the callee answers the other one.
    @Test func `a branch that is rejected while the other one is answered ends nothing`() throws {
        for round in 0..<150 {
            let fork = try Fork("answered\(round)@carrier.example")
            _ = fork.race("200 OK", delay: round * 20)
            #expect(fork.gateway.shared.calls.count == 1, "round \(round): it lasts until its BYE")
            let updates = fork.gateway.updates()
            let call = try #require(updates.first).call
            #expect(updates.filter { $0.call == call }.map(\.kind) == [.invite, .answered], "round \(round)")
        }
    }
}
