// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ChildPrograms
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import Testing

@testable import GatewayApp
@testable import GatewayOperator

/// `herald test-call` through a gateway whose only address is one of TCP.
@Suite("A test call by TCP", .serialized, .timeLimit(.minutes(8)))
struct TestCallByTCPTests {
    private let fixture: CallFixture

    init() async throws { fixture = try await CallFixture() }

    private func call(
        _ expectation: TestCallWish.Expectation, _ statuses: [String], hangsUp: Bool = false, talk: Int = 1
    ) async throws -> TestCallReport {
        let phone = try TCPPhone(fixture.pbxAddress, statuses, hangsUp: hangsUp)
        defer { withExtendedLifetime(phone) {} }
        try fixture.folder.put(Array("+61255501001|Acme Bank|||b-7\n".utf8), in: "brands.psv")
        let text = fixture.text.with("brands", "{file: brands.psv}")
            .with("listen", "[{name: sip, address: '\(fixture.folder.address):5060', transport: tcp}]")
            .with(
                "trunks",
                """
                [{name: carrier, sources: [\(fixture.trunkAddress)], next_hop: '\(fixture.trunkAddress):5060', region: AU, \
                trusted: true}]
                """)
        let start = try fixture.starts.start(text)
        let folder = start.configuration.runtime
        let (reports, done) = AsyncStream.makeStream(of: TestCallReport.self)
        try await fixture.starts.run(start) { [fixture] _ in
            let client = ControlClient(folder: folder)
            try await fixture.until { (try? await client.state()) != nil }
            var wish = TestCallWish(to: "2001")
            (wish.ring, wish.talk, wish.expectation) = (1, talk, expectation)
            done.yield(try await TestCallRun(runtimeFolder: folder, wish).run())
            done.finish()
        }
        let database = try HeraldDatabase.ledgerReader(folder: fixture.folder.path + "/state")
        #expect(try LedgerReader(database).calls(limit: 10).isEmpty)
        for await report in reports { return report }
        throw CancellationError()
    }

    @Test(arguments: [
        (["180 Ringing", "200 OK"], TestCallWish.Expectation.answered), (["180 Ringing"], .missed),
        (["180 Ringing", "603 Decline"], .declined),
    ])
    func `the PBX gets the brand, and the outcome is right`(
        statuses: [String], expectation: TestCallWish.Expectation
    ) async throws {
        let report = try await call(expectation, statuses)
        #expect(report.exitStatus == 0, "\(report.text)")
        #expect(report.text.contains("+ From: \"Acme Bank\" <sip:+61255501001@"), "\(report.text)")
    }

    @Test func `a BYE of the PBX comes back by the connection of the caller`() async throws {
        let report = try await call(.answered, ["180 Ringing", "200 OK"], hangsUp: true, talk: 60)
        #expect(report.exitStatus == 0 && report.result.wasEndedByPBX, "\(report.text)")
    }

    @Test func `a gateway with addresses of TLS alone refuses, and names the address to add`() async throws {
        let text = fixture.text.with(
            "listen",
            """
            [{name: sips, address: '\(fixture.folder.address):5061', transport: tls, certificate: tls.pem, key: tls.key}]
            """)
        let path = fixture.folder.path
        let made = try await ChildProgram.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path + "/tls.key", "-out",
                path + "/tls.pem",
                "-subj", "/CN=a.example", "-days", "300",
            ])
        try #require(made.code == 0, "\(made.errors)")
        let start = try fixture.starts.start(text)
        let folder = start.configuration.runtime
        try await fixture.starts.run(start) { [fixture] _ in
            try await fixture.until { (try? await ControlClient(folder: folder).state()) != nil }
            let refused = await #expect(throws: CommandFailure.self) {
                try await TestCallRun(runtimeFolder: folder, TestCallWish(to: "2001")).run()
            }
            let reason = "a test call comes by UDP or TCP, and this machine has no such address of listen; add one"
            #expect(refused?.description.contains(reason) == true, "\(refused?.description ?? "")")
        }
    }

    @Test func `the end of the connection ends the caller`() async throws {
        let listener = try TCPListener(fixture.folder.address)
        var plan = TestCallPlan(
            trunk: "carrier", isTrusted: true, policy: "standard", pbx: "office", from: "+61255501001", brand: nil,
            to: "2001", returnsAnswered: false, host: fixture.folder.address, port: 5060)
        plan.transport = .tcp
        let (texts, inbox) = AsyncStream.makeStream(of: String.self)
        let socket = try await TestCallSocket(plan) {
            inbox.yield(String(decoding: $0, as: UTF8.self))
        } disconnected: {
            inbox.yield("disconnected")
        }
        let connection = try #require(listener.connection())
        TCPListener.send(
            "\r\nSIP/2.0 180 Ringing\r\nContent-Length: 0\r\n\r\nSIP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            to: connection)
        close(connection)
        listener.end()
        var seen: [String] = []
        for await text in texts {
            seen.append(String(text.prefix { $0 != "\r\n" }))
            if text == "disconnected" { break }
        }
        #expect(seen == ["SIP/2.0 180 Ringing", "SIP/2.0 200 OK", "disconnected"])
        await socket.close()
        let refused = await #expect(throws: CommandFailure.self) {
            _ = try await TestCallSocket(plan) { _ in
            } disconnected: {
            }
        }
        #expect(refused?.description.contains("takes no TCP connection") == true)
    }
}
