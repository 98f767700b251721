// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore
import Synchronization
import Testing

@Suite("A PBX that registers with its carrier through the gateway, RFC 3327")
struct RegistrationPathTests {
    private let trunk = GatewayUnderTest.trunk
    private let pbx = GatewayUnderTest.pbx

    /// What the operator was told.
    private final class News: Sendable {
        let list = Mutex<[RegistrarState.Finding]>([])

        var all: [RegistrarState.Finding] { list.withLock { $0 } }
    }

    private func gateway() throws -> (gateway: GatewayUnderTest, news: News) {
        let news = News()
        var options = GatewayUnderTest.Options()
        options.registrar = RegistrarState(trunk: "carrier") { _, finding in
            news.list.withLock { $0.append(finding) }
        }
        return (try GatewayUnderTest(numbers: [], options: options), news)
    }

    private func register(_ extra: String, turn: Int = 0) -> String {
        """
        REGISTER sip:203.0.113.5 SIP/2.0
        Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKreg\(turn);rport
        Max-Forwards: 70
        From: <sip:office@carrier.example>;tag=r
        To: <sip:office@carrier.example>
        Call-ID: register@office.example
        CSeq: \(turn + 1) REGISTER
        Contact: <sip:office@192.0.2.20:5060>
        \(extra)Content-Length: 0


        """
    }

    /// The 200 of a registrar, which repeats what it was sent of Path or not.
    private func accepted(_ register: String, keepsPath: Bool, contact: String = "<sip:office@192.0.2.20:5060>")
        -> String
    {
        let path = register.split(separator: "\r\n").filter { keepsPath && $0.hasPrefix("Path: ") }
        return response(
            "200 OK", to: register, extra: (path + ["Contact: \(contact);expires=3600"]).joined(separator: "\n") + "\n")
    }

    @Test(arguments: [
        ("Supported: path\n", true), ("k: timer, Path , outbound\n", true),
        ("Supported: 100rel\nSupported: PATH\n", true),
        // RFC 3327 §5.2: a proxy should not add Path where the sender does not support it.
        ("", false), ("Supported: pathology\n", false), ("Require: path\n", false),
    ])
    func `its REGISTER carries Path where it supports that, and never Record-Route`(extra: String, isAdded: Bool) throws
    {
        let (gateway, _) = try gateway()
        let sent = try #require(gateway.receive(register(extra), from: pbx).to(trunk).first)
        #expect(sent.contains("\r\nPath: <sip:192.0.2.10:5060;lr>\r\n") == isAdded)
        #expect(!sent.contains("Record-Route"))
        #expect(sent.contains("\r\nContact: <sip:office@192.0.2.20:5060>\r\n"))
    }

    @Test func `the gateway's Path isPresent above one that is there, RFC 3327 §5.2`() throws {
        let (gateway, _) = try gateway()
        let text = register("Supported: path\nPath: <sip:edge.office.example;lr>\n")
        let sent = try #require(gateway.receive(text, from: pbx).to(trunk).first)
        let paths = sent.split(separator: "\r\n").filter { $0.hasPrefix("Path: ") }
        #expect(paths == ["Path: <sip:192.0.2.10:5060;lr>", "Path: <sip:edge.office.example;lr>"])
    }

    @Test func `a carrier's REGISTER gets no Path`() throws {
        let (gateway, _) = try gateway()
        let text = register("Supported: path\n").replacing("sip:203.0.113.5 ", with: "sip:192.0.2.20 ")
        let sent = try #require(gateway.receive(text, from: trunk).to(pbx).first)
        #expect(!sent.contains("Path: ") && !sent.contains("Record-Route"))
    }

    @Test(
        arguments: [
            ("Supported: path\n", true, []), ("Supported: path\n", false, [.ignored]), ("", false, [.notOffered]),
        ] as [(String, Bool, [RegistrarState.Finding])])
    func `the operator learns once that calls to the contact bypass the gateway`(
        extra: String, keepsPath: Bool, news: [RegistrarState.Finding]
    ) throws {
        let (gateway, told) = try gateway()
        for turn in 0..<5 {
            let sent = try #require(gateway.receive(register(extra, turn: turn), from: pbx).to(trunk).first)
            let response = gateway.receive(accepted(sent, keepsPath: keepsPath), from: trunk)
            #expect(response.to(pbx).first?.hasPrefix("SIP/2.0 200 OK") == true)
            _ = gateway.pass(.seconds(600))
        }
        #expect(told.all == news)
        #expect(gateway.counters.count(.registrationsWithoutPath) == (news.isEmpty ? 0 : 5))
    }

    @Test func `a registrar that changes its mind each time is reported once an hour`() throws {
        let (gateway, told) = try gateway()
        for turn in 0..<20 {
            let sent = try #require(
                gateway.receive(register("Supported: path\n", turn: turn), from: pbx).to(trunk).first)
            _ = gateway.receive(accepted(sent, keepsPath: turn % 2 == 0), from: trunk)
            _ = gateway.pass(.seconds(360))
        }
        #expect(told.all.count == 2)
    }

    @Test func `a contact at the gateway, a refusal and the end of a registration say nothing`() throws {
        let (gateway, told) = try gateway()
        for (turn, respond) in [
            { accepted($0, keepsPath: false, contact: "<sip:office@192.0.2.10:5060>") },
            { response("200 OK", to: $0) }, { response("403 Forbidden", to: $0) },
            { response("401 Unauthorized", to: $0, extra: "WWW-Authenticate: Digest realm=\"a\"\n") },
        ].enumerated() as EnumeratedSequence<[(String) -> String]> {
            let sent = try #require(
                gateway.receive(register("Supported: path\n", turn: turn), from: pbx).to(trunk).first)
            #expect(gateway.receive(respond(sent), from: trunk).to(pbx).count == 1)
        }
        #expect(told.all.isEmpty)
    }

    @Test func `a call that comes by Path reaches the PBX, and the Route ends at the gateway`() throws {
        let (gateway, _) = try gateway()
        let text = request("INVITE", extra: "Route: <sip:192.0.2.10:5060;lr>\n")
            .replacing("sip:100@192.0.2.20 ", with: "sip:office@192.0.2.20:5060 ")
        let sent = try #require(gateway.receive(text, from: trunk).to(pbx).first)
        #expect(sent.hasPrefix("INVITE sip:office@192.0.2.20:5060 "))
        #expect(!sent.contains("\r\nRoute: "))
    }
}
