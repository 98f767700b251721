// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Probes: OPTIONS to targets, RFC 3261 §11")
struct TargetProbesTests {
    private static let address = PeerAddress(ipv4: 0xC000_0214, port: 5062)
    private static let secret = Secret(key0: 3, key1: 4)

    private func target(_ name: String) -> Target {
        Target(
            targetState: TargetState(name: name, rules: TargetHealthRules()), address: Self.address, socket: 0)
    }

    private func probes(_ targets: [Target]) -> TargetProbes {
        var probes = TargetProbes(rules: .init(), seed: 100)
        probes.watch(targets, rules: .init(), at: 0)
        return probes
    }

    @Test func `every target is asked soon, and not all at one moment`() {
        var probes = probes((0..<4).map { target("t\($0)") })
        var asked: [UInt64: Int] = [:]
        for time in 0..<1000 as Range<UInt64> {
            let count = probes.due(at: time).send.count
            if count > 0 { asked[time] = count }
        }
        #expect(asked == [0: 1, 250: 1, 500: 1, 750: 1])
    }

    @Test func `a response ends the probe, and the next comes an interval later`() throws {
        var probes = probes([target("a")])
        let probe = try #require(probes.due(at: 0).send.first)
        #expect(probes.responded(probe.number) === probe.target.targetState)
        #expect(probes.responded(probe.number) == nil, "a response counts once")
        for time in 1..<10_000 as Range<UInt64> {
            let due = probes.due(at: time)
            #expect(due.send.isEmpty && due.silent.isEmpty)
        }
        #expect(probes.due(at: 10_000).send.count == 1)
    }

    @Test func `an unanswered question is asked once more and then counts as silence`() throws {
        var probes = probes([target("a")])
        let first = try #require(probes.due(at: 0).send.first)
        #expect(probes.due(at: 1999).send.isEmpty)
        let again = try #require(probes.due(at: 2000).send.first)
        #expect(again.isRepeat && again.number == first.number)
        #expect(probes.due(at: 3999).silent.isEmpty)
        #expect(probes.due(at: 4000).silent.count == 1)
        #expect(probes.responded(first.number) == nil, "too late")
    }

    @Test func `it says when it wants to be asked`() {
        var probes = probes([target("a")])
        #expect(probes.nextDeadline == 0)
        _ = probes.due(at: 0)
        #expect(probes.nextDeadline == 2000)
        probes.watch([], rules: .init(), at: 0)
        #expect(probes.nextDeadline == nil)
    }

    @Test func `a reload keeps the turn of targets that stay and asks new ones soon`() {
        let old = target("a")
        var probes = probes([old])
        _ = probes.due(at: 0)
        probes.watch([old, target("b")], rules: .init(), at: 100)
        #expect(probes.due(at: 600).send.map(\.target.targetState.name) == ["b"])
    }

    @Test(arguments: SIPTransportKind.allCases)
    func `the OPTIONS is a valid request that identifies its response`(transport: SIPTransportKind) throws {
        let socket = LocalSocket(
            position: 0, address: PeerAddress(ipv4: 0xC000_020A, port: 5060), transport: transport)
        let bytes = ProbeRequest.bytes(number: 7, to: Self.address, from: socket, secret: Self.secret)
        let message = try SIPMessage.index(bytes, limits: SIPLimits())
        #expect(RequestValidity.refusal(of: message) == nil)
        #expect(message.method == .options)
        let via = try #require(message.topVia?.value)
        #expect(via.transport(in: message) == transport)
        let branch = try #require(via.branch)
        #expect(ProbeRequest.number(ofBranch: message[branch], secret: Self.secret) == 7)
        #expect(ProbeRequest.number(ofBranch: message[branch], secret: Secret(key0: 0, key1: 0)) == nil)
        let replaced = Secret(key0: 0, key1: 0).replacing(Self.secret)
        #expect(
            ProbeRequest.number(ofBranch: message[branch], secret: replaced) == 7,
            "a probe under way when the secret is replaced still gets its response")
        #expect(Branch(message[branch]) == nil, "it is no transaction of a call")
    }
}
