// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// Requirements: under the settings of its time a recorded call has its recorded decision; under others it has the decision of a
/// gateway with those, or is reported as undecided.
@Suite("Recorded calls, decided again")
struct CallReplayTests {
    typealias Options = GatewayUnderTest.Options
    typealias Change = @Sendable (inout Options) -> Void

    private static let caller = "+61491570156"

    private func gateway(_ changes: [Change]) throws -> GatewayUnderTest {
        var options = Options()
        for change in changes { change(&options) }
        let numbers = try options.brandNumbers ?? [#require(E164Number(Self.caller))]
        return try GatewayUnderTest(numbers: numbers, options: options)
    }

    /// The record of the call that an INVITE begins.
    private func record(_ invite: [UInt8], at gateway: GatewayUnderTest) throws -> RecordedCall {
        _ = gateway.receive(invite, from: GatewayUnderTest.trunk)
        var found: RecordedCall?
        _ = gateway.ring.read(after: 0, limit: 10) { update, texts in
            guard found == nil else { return }
            var call = RecordedCall(
                trunk: "carrier", caller: E164Number(digits: update.caller),
                called: E164Number(digits: update.destination), evidence: update.evidence, trust: update.trust,
                reason: update.reason)
            call.carrierName = String(decoding: texts?.carrierName ?? [], as: UTF8.self)
            found = call
        }
        return try #require(found)
    }

    private func replay(
        _ gateway: GatewayUnderTest, _ differences: CallReplay.Differences = [], readsCalledOtherwise: Bool = false
    ) -> CallReplay {
        CallReplay(
            gateway.shared.settings.load(), differences: ["carrier": differences],
            readsCalledOtherwise: readsCalledOtherwise)
    }

    private static func invite(_ lines: String = "", from name: String = #""Carrier" "#) -> [UInt8] {
        Array(
            request("INVITE", from: name, extra: lines).replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8
        )
    }

    private static let asserted = "P-Asserted-Identity: <sip:+61491570156@c.example>\n"

    /// INVITEs that the rules treat in different ways.
    static let invites: [String] = [
        "", asserted, "Privacy: id\n" + asserted, "Priority: emergency\n", "Replaces: a@b;to-tag=1;from-tag=2\n",
        "Attestation-Info: Failed\n" + asserted, "P-Attestation-Indicator: A\n" + asserted,
        "P-Attestation-Indicator: B\n" + asserted, "P-Attestation-Indicator: C\n" + asserted,
        "P-Asserted-Identity: <sip:reception@c.example>\n",
    ]

    /// Settings of a trunk, brands and gates.
    static let settings: [(name: String, change: Change)] = [
        ("standard", { _ in }), ("strict", { $0.policy = .strict }), ("permissive", { $0.policy = .permissive }),
        ("untrusted", { $0.isTrusted = false }), ("shadow", { $0.brands = .shadow }), ("off", { $0.brands = .off }),
        ("no Call-Info", { $0.writesCallInfo = false }),
        ("name alone", { $0.hasLogoAndReason = false }), ("no brand", { $0.brandNumbers = [] }),
        ("names kept", { $0.carrierName = .keep }), ("names filled", { $0.carrierName = .fill }),
        (
            "names kept, name alone",
            {
                $0.carrierName = .keep; $0.hasLogoAndReason = false
            }
        ),
        ("cap reached", { $0.gates = BrandingGates(capReached: true) }),
        ("old records", { $0.gates = BrandingGates(isStale: true) }),
        ("small datagrams", { $0.largestDatagram = 300 }),
    ]

    @Test(arguments: invites, settings.map(\.name))
    func `under its own settings and brands each call keeps its decision`(lines: String, name: String) throws {
        let change = try #require(Self.settings.first { $0.name == name }).change
        let gateway = try gateway([change])
        let call = try record(Self.invite(lines), at: gateway)
        let replayed = replay(gateway).decide(call, in: gateway.index)
        #expect(replayed.now == .decided(call.reason) && replayed.byRules == .decided(call.reason))
        if call.reason == nil { #expect(replayed.isNamed == call.evidence?.isNamed) }
    }

    @Test(arguments: InviteCorpus.rows)
    func `INVITEs of many makers keep their decision`(row: InviteCorpus.Row) throws {
        let numbers = InviteCorpus.rows.compactMap(\.number)
        let gateway = try gateway([{ $0.brandNumbers = numbers }])
        let call = try record(row.bytes, at: gateway)
        #expect(replay(gateway).decide(call, in: gateway.index).now == .decided(call.reason))
    }

    /// A setting under which calls are recorded, another one, and the calls that it leaves undecided.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var before: Change = { _ in }
        let after: Change
        var differences: CallReplay.Differences = []
        var undecided: Set<UndecidedCause> = []
    }

    static let rows: [Row] = [
        Row(testDescription: "standard to strict", after: { $0.policy = .strict }),
        Row(testDescription: "strict to standard", before: { $0.policy = .strict }, after: { _ in }),
        Row(
            testDescription: "strict to permissive", before: { $0.policy = .strict }, after: { $0.policy = .permissive }
        ),
        Row(testDescription: "on to shadow", after: { $0.brands = .shadow }),
        Row(testDescription: "shadow to on", before: { $0.brands = .shadow }, after: { _ in }),
        Row(
            testDescription: "shadow to strict", before: { $0.brands = .shadow }, after: { $0.policy = .strict }),
        Row(testDescription: "on to off", after: { $0.brands = .off }),
        Row(
            testDescription: "off to on", before: { $0.brands = .off }, after: { _ in }, undecided: [.brandingOff]),
        Row(testDescription: "trusted to untrusted", after: { $0.isTrusted = false }),
        Row(
            testDescription: "untrusted to trusted", before: { $0.isTrusted = false }, after: { _ in },
            undecided: [.untrustedClaims]),
        Row(
            testDescription: "names kept", after: { $0.carrierName = .keep }, differences: .carrierName),
        Row(
            testDescription: "names kept, without Call-Info",
            after: {
                $0.carrierName = .keep; $0.writesCallInfo = false
            }, differences: .carrierName),
        Row(
            testDescription: "names replaced again",
            before: {
                $0.carrierName = .keep; $0.hasLogoAndReason = false
            }, after: { $0.hasLogoAndReason = false }, differences: .carrierName),
        Row(
            testDescription: "names filled", before: { $0.hasLogoAndReason = false },
            after: {
                $0.carrierName = .fill; $0.hasLogoAndReason = false
            }, differences: .carrierName, undecided: [.carrierName]),
        Row(
            testDescription: "another region", after: { $0.region = "GB" }, differences: .callerKeys,
            undecided: [.callerKeys]),
        Row(testDescription: "a brand added", before: { $0.brandNumbers = [] }, after: { _ in }),
        Row(testDescription: "a brand removed", after: { $0.brandNumbers = [] }),
        Row(
            testDescription: "signatures", after: { _ in }, differences: .signatures, undecided: [.signature]),
    ]

    @Test(arguments: rows, invites)
    func `under other settings a call has the decision of a gateway with those, or none`(
        row: Row, lines: String
    ) throws {
        let call = try record(Self.invite(lines), at: gateway([row.before]))
        let other = try gateway([row.after])
        let wanted = try record(Self.invite(lines), at: other)
        let result = replay(other, row.differences).decide(call, in: other.index).now
        if case .undecided(let cause) = result {
            #expect(row.undecided.contains(cause), "\(cause)")
        } else if wanted.reason == .emergency, call.reason == .policy {
            // Whoever calls, neither has a brand.
            #expect(result != .decided(nil))
        } else {
            #expect(result == .decided(wanted.reason), "was \(call.reason?.description ?? "matched")")
        }
    }

    @Test func `the brand of the time separates brands from rules`() throws {
        let branded = try gateway([])
        let call = try record(Self.invite(), at: branded)
        let without = try gateway([{ $0.brandNumbers = [] }])
        let removed = replay(branded).decide(call, in: without.index)
        #expect(removed.byRules == .decided(nil) && removed.now == .decided(.noMatch) && removed.entry == nil)
        let strict = try gateway([{ $0.policy = .strict }])
        #expect(replay(strict).decide(call, in: without.index).byRules == .decided(.policy))
    }

    static let inputs: [(UndecidedCause, @Sendable (inout RecordedCall) -> Void)] = [
        (.noEvidence, { $0.evidence = nil }), (.noEvidence, { $0.reason = .error }),
        (.byDoor, { $0.evidence?.header = .report }), (.noTrunk, { $0.trunk = "former" }),
        (.noTrunk, { $0.trunk = nil }),
    ]

    @Test(arguments: inputs.indices) func `a call without an input keeps its record`(place: Int) throws {
        let gateway = try gateway([])
        var call = try record(Self.invite(), at: gateway)
        Self.inputs[place].1(&call)
        #expect(replay(gateway).decide(call, in: gateway.index).now == .undecided(Self.inputs[place].0))
    }

    /// A gateway with one route.
    private func routed(_ policy: BrandingPolicy?, unmatched: UnmatchedCalls = .trunk) throws -> GatewayUnderTest {
        var table = CalledNumberTable()
        _ = table.add(.number(try #require(E164Number("+61255501001"))), route: 0)
        let routes = CallRoutes([CallRoute(name: "acme", policy: policy)], table: table, unmatched: unmatched)
        var options = Options()
        options.routes = { _ in routes }
        return try GatewayUnderTest(numbers: [try #require(E164Number(Self.caller))], options: options)
    }

    @Test func `the route of the called number decides, and a call that no route takes is rejected`() throws {
        let invite = Array(
            String(decoding: Self.invite(), as: UTF8.self).replacing("sip:100@", with: "sip:+61255501001@").utf8)
        let call = try record(invite, at: gateway([]))
        let strict = try routed(.strict)
        #expect(replay(strict).decide(call, in: strict.index).now == .decided(.policy))
        let other = try record(Self.invite(), at: gateway([]))
        let rejecting = try routed(nil, unmatched: .reject)
        #expect(replay(rejecting).decide(other, in: rejecting.index).now == .rejected)
        #expect(
            replay(strict, readsCalledOtherwise: true).decide(call, in: strict.index).now == .undecided(.calledField))
        var several = call
        several.rangSeveral = true
        #expect(replay(strict).decide(several, in: strict.index).now == .undecided(.severalParties))
    }
}
