// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import Primitives
import Synchronization
import Testing

@testable import GatewayApp
@testable import GatewayOperator

/// `herald test-call` through a running gateway, to a PBX that the test plays.
@Suite("A test call through a gateway that runs", .serialized, .timeLimit(.minutes(8)))
struct TestCallTests {
    private let fixture: CallFixture
    private let text: ConfigurationText

    init() async throws {
        fixture = try await CallFixture()
        try fixture.folder.put(
            Array("+61255501001|Acme Bank|https://logos.example/acme.png|Your appointment\n".utf8), in: "brands.psv")
        text = fixture.text.with("brands", "{file: brands.psv}")
            .with(
                "trunks",
                """
                [{name: carrier, sources: [\(fixture.trunkAddress)], next_hop: '\(fixture.trunkAddress):5060', region: AU, \
                trusted: true}]
                """)
    }

    /// Runs a gateway, with the folder of its control socket.
    private func run(
        _ text: ConfigurationText? = nil, _ body: @escaping @Sendable (ControlClient, String) async throws -> Void
    ) async throws {
        let start = try fixture.starts.start(text ?? self.text)
        let folder = start.configuration.runtime
        try await fixture.starts.run(start) { [fixture] _ in
            let client = ControlClient(folder: folder)
            try await fixture.until { (try? await client.state()) != nil }
            try await body(client, folder)
        }
    }

    /// A PBX that responds to INVITE, ACK, CANCEL and BYE with these statuses, until the socket closes with the fixture.
    private func play(_ pbx: UDPPeer, _ statuses: [String], back: String? = nil) {
        let (host, gateway) = (fixture.pbxAddress, fixture.folder.address)
        Thread.detachNewThread {
            var invite = ""
            // Beside all other tests a gateway may start later than a peer waits. A closed socket ends each wait at once.
            var waits = 0
            while waits < 6 {
                let request = pbx.next()
                if request.isEmpty {
                    waits += 1
                    continue
                }
                let method = request.prefix { $0 != " " }
                switch method {
                case "INVITE":
                    invite = request
                    for status in statuses { pbx.send(Self.response(status, to: request, host), to: gateway) }
                case "CANCEL":
                    pbx.send(Self.response("200 OK", to: request, host), to: gateway)
                    pbx.send(Self.response("487 Request Terminated", to: invite, host), to: gateway)
                case "BYE": pbx.send(Self.response("200 OK", to: request, host), to: gateway)
                case "ACK": if let back { pbx.send(back, to: gateway) }
                default: break
                }
            }
        }
    }

    private static func response(_ status: String, to request: String, _ host: String) -> String {
        CallFixture.response(status, to: request, contact: "sip:2001@\(host):5060")
    }

    private func wish(
        _ expectation: TestCallWish.Expectation? = nil, _ change: (inout TestCallWish) -> Void = { _ in }
    ) -> TestCallWish {
        var wish = TestCallWish(to: "2001")
        (wish.ring, wish.talk, wish.wait, wish.expectation) = (1, 1, 30, expectation)
        change(&wish)
        return wish
    }

    private func expectNothingStored() throws {
        let database = try HeraldDatabase.ledgerReader(folder: fixture.folder.path + "/state")
        #expect(try LedgerReader(database).calls(limit: 10).isEmpty)
        #expect(try LedgerReader(database).events(limit: 10).isEmpty)
    }

    @Test(arguments: [
        (["180 Ringing", "200 OK"], TestCallWish.Expectation.answered), (["180 Ringing"], .missed),
        (["180 Ringing", "603 Decline"], .declined),
    ])
    func `the PBX gets the brand, the outcome is right, and nothing is stored`(
        statuses: [String], expectation: TestCallWish.Expectation
    ) async throws {
        let pbx = try fixture.pbx()
        play(pbx, statuses)
        try await run { client, folder in
            let report = try await TestCallRun(runtimeFolder: folder, wish(expectation)).run()
            #expect(report.exitStatus == 0, "\(report.text)")
            for part in [
                "caller    +61255501001, \"Acme Bank\"\n", "called    2001 at pbx office\n", "decision  matched",
                "- From: \"Herald test call\" <sip:+61255501001@", "+ From: \"Acme Bank\" <sip:+61255501001@",
                "+ Call-Info: <https://logos.example/acme.png>", "stored    nothing",
            ] {
                #expect(report.text.contains(part), "\(part): \(report.text)")
            }
            let json = try Output.line(json: report.json)
            #expect(json.contains("\"as_expected\":true") && json.contains("\"branded\":true"), "\(json)")
            #expect(json.contains("\"summary\":\"INVITE\""), "\(json)")
            let state = try await client.state()
            #expect(state.inboundCalls == 0 && state.brandedCalls == 0 && state.callsInProgress == 0)
        }
        try expectNothingStored()
    }

    @Test func `another outcome than expected ends with 2, and names it`() async throws {
        let pbx = try fixture.pbx()
        play(pbx, ["404 Not Found"])
        try await run { _, folder in
            let ladder = Mutex("")
            let report = try await TestCallRun(runtimeFolder: folder, wish(.answered)) { text in
                ladder.withLock { $0 += text }
            }.run()
            #expect(report.exitStatus == 2)
            // Lines of the INVITE are whole; the facts are behind the last empty line.
            let facts = report.text.split(separator: "\n\n").last ?? ""
            let lines = ladder.withLock { $0 }.split(separator: "\n") + facts.split(separator: "\n")
            #expect(lines.contains { $0.contains(" herald ") } && lines.contains { $0.hasPrefix("evidence  ") })
            for line in lines { #expect(TerminalText.width(String(line)) <= 80, "\(line)") }
            #expect(report.text.contains("outcome   FAILED, 404 Not Found, no phone rang\n"), "\(report.text)")
            #expect(report.text.contains("hint      pbx office does not know 2001"), "\(report.text)")
        }
        try expectNothingStored()
    }

    @Test(arguments: [true, false])
    func `a call back is recognised if its caller is the called party`(isSame: Bool) async throws {
        let pbx = try fixture.pbx()
        let host = fixture.pbxAddress
        let back = [
            "INVITE sip:+61255501001@\(fixture.folder.address) SIP/2.0",
            "Via: SIP/2.0/UDP \(host):5060;branch=z9hG4bKback", "Max-Forwards: 70",
            "From: <sip:\(isSame ? "2001" : "desk")@\(host)>;tag=r", "To: <sip:+61255501001@\(fixture.folder.address)>",
            "Call-ID: back", "CSeq: 1 INVITE", "Contact: <sip:2001@\(host):5060>", "Content-Length: 0", "", "",
        ].joined(separator: "\r\n")
        play(pbx, ["180 Ringing", "480 Temporarily Unavailable"], back: back)
        try await run { [fixture] _, folder in
            let report = try await TestCallRun(
                runtimeFolder: folder, wish(.returned) { $0.wait = isSame ? 30 : 2 }, .wide
            ).run()
            #expect(report.exitStatus == (isSame ? 0 : 2), "\(report.text)")
            let part =
                isSame
                ? "returned  recognised after "
                : "returned  not recognised: the PBX called +61255501001 as <sip:desk@\(host)>"
            #expect(report.text.contains(part), "\(report.text)")
            if !isSame { #expect(await fixture.trunk.receive().hasPrefix("INVITE ")) }
        }
    }

    /// Orders that the gateway refuses, with a part of the reason.
    private static let refused: [(String, @Sendable (inout TestCallWish) -> Void)] = [
        ("000 is an emergency number on trunk carrier", { $0.to = "000" }),
        ("+61112 is an emergency number", { $0.to = "+61112" }),
        ("no trunk is named nowhere; there are carrier", { $0.trunk = "nowhere" }),
        ("0491 is not certain on trunk carrier", { $0.from = "0491" }),
        ("the called number has 1 to 64 digits", { $0.to = "1\r\nEvil: yes" }),
    ]

    @Test(arguments: Self.refused.indices) func `an order that cannot be is refused with the reason`(row: Int)
        async throws
    {
        let (reason, change) = Self.refused[row]
        try await run { _, folder in
            let error = await #expect(throws: CommandFailure.self) {
                try await TestCallRun(runtimeFolder: folder, wish(nil, change)).run()
            }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
    }

    @Test func `a PBX without a target, a drain and another test refuse it`() async throws {
        try await run { [fixture] client, folder in
            let target = "\(fixture.pbxAddress):5060"
            _ = try await client.setTarget(target, isDisabled: true)
            let call = TestCallRun(runtimeFolder: folder, wish())
            let down = await #expect(throws: CommandFailure.self) { try await call.run() }
            #expect(
                down?.description.contains("no target of pbx office takes calls: pbx office \(target) is disabled")
                    == true,
                "\(down?.description ?? "")")
            _ = try await client.setTarget(target, isDisabled: false)
            _ = try await client.drain(true)
            let draining = await #expect(throws: CommandFailure.self) { try await call.run() }
            #expect(draining?.description.contains("the gateway drains") == true)
            _ = try await client.drain(false)
            let plan = try await client.plan(TestCallOrder(to: "2001"))
            let (signs, begun) = AsyncStream<Void>.makeStream()
            let other = Task {
                try await client.begin(
                    TestCallOrder(to: "2001"), caller: "\(plan.host):40711", callID: Self.callID
                ) { _ in begun.yield() }
            }
            for await _ in signs { break }
            let busy = await #expect(throws: CommandFailure.self) { try await call.run() }
            #expect(busy?.description.contains("a test call runs already") == true, "\(busy?.description ?? "")")
            other.cancel()
        }
    }

    @Test func `a caller from elsewhere is refused`() async throws {
        try await run { client, _ in
            let error = await #expect(throws: (any Error).self) {
                try await client.begin(
                    TestCallOrder(to: "2001"), caller: "203.0.113.9:5060", callID: Self.callID
                ) { _ in }
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("the caller must send from 127.84."))
        }
    }

    private static let callID = "herald-test-abcdefghijkmnpqr"

    @Test(arguments: [
        "", "herald-test", "herald-test-abc def", "herald-test-abc\r\nX: y", String(repeating: "x", count: 129),
    ])
    func `an order without a Call-ID that nobody finds by trying is refused`(callID: String) async throws {
        try await run { client, _ in
            let host = try await client.plan(TestCallOrder(to: "2001")).host
            let error = await #expect(throws: (any Error).self) {
                try await client.begin(TestCallOrder(to: "2001"), caller: "\(host):40711", callID: callID) { _ in }
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("call_id must be the Call-ID of the test's INVITE"))
        }
    }

    @Test func `from the caller's address the INVITE with the ordered Call-ID alone is the test's`() async throws {
        let pbx = try fixture.pbx()
        let host = fixture.folder.address
        let caller = try UDPPeer(host, port: 40_711)
        try await run { [fixture] client, _ in
            let (signs, begun) = AsyncStream<Void>.makeStream()
            let test = Task {
                defer { begun.finish() }
                do {
                    try await client.begin(
                        TestCallOrder(to: "2001"), caller: "\(host):40711", callID: Self.callID
                    ) { _ in begun.yield() }
                } catch  where !Task.isCancelled {
                    Issue.record(error)
                }
            }
            for await _ in signs { break }
            func invite(_ callID: String) -> String {
                fixture.request("INVITE", callID, user: "2001@").replacing(
                    "UDP \(fixture.trunkAddress):5060", with: "UDP \(host):40711")
            }
            caller.send(invite("herald-test-stuvwxyzabcdefgh"), to: host)
            #expect(await caller.receive().hasPrefix("SIP/2.0 403 "))
            caller.send(invite(Self.callID), to: host)
            #expect(await caller.receive().hasPrefix("SIP/2.0 100 "))
            let ringing = await pbx.receive()
            #expect(ringing.hasPrefix("INVITE ") && ringing.contains("Call-ID: \(Self.callID)\r"), "\(ringing)")
            pbx.send(Self.response("486 Busy Here", to: ringing, fixture.pbxAddress), to: host)
            var end = await caller.receive()
            while end.hasPrefix("SIP/2.0 1") { end = await caller.receive() }
            #expect(end.hasPrefix("SIP/2.0 486 "))
            let state = try await client.state()
            #expect(state.gateway.unknownCallers == nil, "no carrier is at a new address")
            test.cancel()
        }
        try expectNothingStored()
    }

    @Test func `the caller takes datagrams of the gateway's address and port alone`() async throws {
        let host = fixture.folder.address
        let gateway = try UDPPeer(host, port: 5060)
        let others = [try UDPPeer(host, port: 5061), try UDPPeer(fixture.pbxAddress, port: 5060)]
        let plan = TestCallPlan(
            trunk: "carrier", isTrusted: true, policy: "standard", pbx: "office", from: "+61255501001", brand: nil,
            to: "2001", returnsAnswered: false, host: host, port: 5060)
        let (texts, inbox) = AsyncStream.makeStream(of: String.self)
        let socket = try await TestCallSocket(plan) { inbox.yield(String(decoding: $0, as: UTF8.self)) }
        for other in others { other.send("SIP/2.0 603 Decline", to: host, port: UInt16(socket.port)) }
        gateway.send("SIP/2.0 180 Ringing", to: host, port: UInt16(socket.port))
        for await text in texts {
            #expect(text == "SIP/2.0 180 Ringing")
            break
        }
        socket.send("OPTIONS")
        #expect(await gateway.receive() == "OPTIONS")
        await socket.close()
    }
}
