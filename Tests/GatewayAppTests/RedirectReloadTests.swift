// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("A reload of the redirect door", .serialized, .timeLimit(.minutes(8)))
struct RedirectReloadTests {
    private let fixture: CallFixture
    private let first = ReservedPort.next()
    private let second = ReservedPort.next()

    init() async throws { fixture = try await CallFixture() }

    private func door(_ port: UInt16, _ more: String = "") -> ConfigurationText {
        fixture.text.with("doors", "{redirect: {listen: '127.0.0.1:\(port)'\(more)}}")
    }

    /// The status of a caller without a brand within 0.2 s; nil without a response.
    private func status(_ port: UInt16) async -> String? {
        let invite = """
            INVITE sip:100@127.0.0.1 SIP/2.0
            Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1;rport
            From: <sip:+61491570999@carrier.example>;tag=a
            To: <sip:100@127.0.0.1>
            Call-ID: reload@127.0.0.1
            CSeq: 1 INVITE
            Contact: <sip:carrier@127.0.0.1>
            User-Agent: a client of the redirect door
            Content-Length: 0


            """.replacing("\n", with: "\r\n")
        guard let client = try? LoopbackSocket(Int(port), isStream: false, patience: 200),
            client.send(Array(invite.utf8)), let bytes = client.receive(atMost: 2_048), bytes.count > 11
        else { return nil }
        return String(decoding: bytes[8..<11], as: UTF8.self)
    }

    @Test func `the door moves, changes its clients and its status, and closes`() async throws {
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await fixture.until { await status(first) == "404" }
            try fixture.folder.write(door(second))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second) == "404" }
            #expect(await status(first) == nil)
            try fixture.folder.write(door(second, ", allow: [192.0.2.20]"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second) == "403" }
            try fixture.folder.write(door(second, ", unbranded: 503"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second) == "503" }
            try fixture.folder.write(fixture.text)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second) == nil }
        }
        #expect(
            fixture.log.all.contains {
                $0.contains("the doors have their new settings") && $0.contains("redirect: off")
            })
    }
}
