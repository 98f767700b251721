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

    /// One worker rejects a branch for its signature while another one gets the 486 of the branch that has rung.
    @Test func `a branch that is rejected while the other one ends leaves one end of the call`() throws {
        let lab = TrustLab.shared
        let good = try lab.signed(TrustLab.claims())
        var setting = SignedCallSetting()
        setting.rules = { $0.onFailed = .reject }
        setting.options = { $0.shards = 8 }
        for round in 0..<150 {
            let gateway = try setting.gateway()
            var invite = SignedInvite(identity: [good], callID: "race\(round)@carrier.example")
            let forwarded = try #require(
                gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            _ = gateway.receive(response("180 Ringing", to: forwarded), from: GatewayUnderTest.pbx)
            // The token does not have the number of this branch.
            (invite.uri, invite.to) = ("sip:+12025558888@192.0.2.10", "<sip:+12025558888@192.0.2.10>")
            let branch = Self.bytes(invite.text.replacing(";rport", with: "x;rport"))
            let busy = Self.bytes(response("486 Busy Here", to: forwarded))
            let now = gateway.now
            nonisolated(unsafe) let (one, other) = (gateway.gateway, gateway.secondWorker())
            Race().run(
                { one.receive(branch.span, by: Flow(source: GatewayUnderTest.trunk, socket: 0), at: now) },
                { other.receive(busy.span, by: Flow(source: GatewayUnderTest.pbx, socket: 0), at: now) },
                delay: round * 20)
            #expect(one.outgoing.to(GatewayUnderTest.trunk).count { $0.hasPrefix("SIP/2.0 438 ") } == 1)
            #expect(other.outgoing.to(GatewayUnderTest.trunk).count { $0.hasPrefix("SIP/2.0 486 ") } == 1)
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
        let lab = TrustLab.shared
        let good = try lab.signed(TrustLab.claims())
        var setting = SignedCallSetting()
        setting.rules = { $0.onFailed = .reject }
        setting.options = { $0.shards = 8 }
        for round in 0..<150 {
            let gateway = try setting.gateway()
            var invite = SignedInvite(identity: [good], callID: "answered\(round)@carrier.example")
            let forwarded = try #require(
                gateway.receive(invite.text, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
            (invite.uri, invite.to) = ("sip:+12025558888@192.0.2.10", "<sip:+12025558888@192.0.2.10>")
            let branch = Self.bytes(invite.text.replacing(";rport", with: "x;rport"))
            let accepted = Self.bytes(response("200 OK", to: forwarded))
            let now = gateway.now
            nonisolated(unsafe) let (one, other) = (gateway.gateway, gateway.secondWorker())
            Race().run(
                { one.receive(branch.span, by: Flow(source: GatewayUnderTest.trunk, socket: 0), at: now) },
                { other.receive(accepted.span, by: Flow(source: GatewayUnderTest.pbx, socket: 0), at: now) },
                delay: round * 20)
            #expect(gateway.shared.calls.count == 1, "round \(round): it lasts until its BYE")
            let updates = gateway.updates()
            let call = try #require(updates.first).call
            #expect(updates.filter { $0.call == call }.map(\.kind) == [.invite, .answered], "round \(round)")
        }
    }

    private static func bytes(_ text: String) -> [UInt8] {
        Array(text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8)
    }
}
