// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import SIPCore
import TestFixtures
import Testing

@testable import CallPath
@testable import GatewayApp
@testable import GatewayConfiguration

/// Two running gateways of one cluster, between one trunk and one PBX.
@Suite("Two running gateways", .serialized, .timeLimit(.minutes(8)))
struct SiblingGatewaysTests {
    private let a: StartFixture
    private let b: StartFixture
    private let trunk: UDPPeer
    private let pbx: UDPPeer
    private let trunkAddress: String
    private let pbxAddress: String

    init() async throws {
        a = try await StartFixture()
        b = try await StartFixture()
        trunkAddress = a.folder.address.replacing("127.84.", with: "127.86.")
        pbxAddress = a.folder.address.replacing("127.84.", with: "127.87.")
        trunk = try UDPPeer(trunkAddress, port: 5060)
        pbx = try UDPPeer(pbxAddress, port: 5060)
    }

    /// The addresses of the reports of one gateway and the other.
    private struct Reports {
        var own: String
        var other: String
    }

    /// - Parameter reports: nil for those of the fixtures, by IPv4.
    private func text(
        _ own: StartFixture, _ other: StartFixture, more: String = "", reports: Reports? = nil
    ) throws -> ConfigurationText {
        let reports =
            reports ?? Reports(own: "\(own.folder.address):5070", other: "\(other.folder.address):5070")
        try own.folder.put(Array("00112233445566778899aabbccddeeff\n".utf8), in: "cluster-secret")
        return own.folder.sections.with(
            "trunks",
            "[{name: carrier, sources: [\(trunkAddress)], next_hop: '\(trunkAddress):5060', trusted: true, "
                + "limits: {calls_per_second: 11, burst: 9, calls: 5}}]"
        )
        .with("pbx", "[{name: office, address: '\(pbxAddress):5060', probe: false}]")
        .with(
            "cluster",
            "{secret_file: cluster-secret, listen: '\(reports.own)', "
                + "siblings: ['\(reports.other)'], route: sip.example.com\(more)}")
    }

    private func request(_ method: String, _ toTag: String = "", _ extra: [String] = []) -> String {
        ([
            "\(method) sip:1001@sip.example.com SIP/2.0",
            "Via: SIP/2.0/UDP \(trunkAddress):5060;branch=z9hG4bKc\(method == "ACK" ? "2" : method)",
            "From: <sip:+61255501001@carrier.example>;tag=a", "To: <sip:1001@sip.example.com>\(toTag)",
            "Call-ID: c1", "CSeq: \(method == "BYE" ? 2 : 1) \(method)", "Max-Forwards: 70",
        ] + extra + ["Content-Length: 0", "", ""]).joined(separator: "\r\n")
    }

    private func response(_ status: String, to request: String) -> String {
        let copied = request.components(separatedBy: "\r\n").filter { line in
            ["Via:", "Record-Route:", "From:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
        }
        return
            (["SIP/2.0 \(status)"] + copied
            + ["To: <sip:1001@sip.example.com>;tag=b", "Content-Length: 0", "", ""]).joined(separator: "\r\n")
    }

    /// Waits until the ledger of a gateway has the call with an outcome.
    private func outcome(_ fixture: StartFixture) async throws -> LedgerCallRow? {
        for _ in 0..<300 {
            let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: fixture.folder.path + "/state"))
            if let call = try reader.calls(limit: 10).first, call.outcome != nil { return call }
            try await Task.sleep(for: .milliseconds(100))
        }
        return nil
    }

    /// What trunk and PBX receive in the course of a call.
    private struct Heard: Sendable {
        var (ringing, route, ack, bye, end) = ("", "", "", "", "")
    }

    /// A call whose INVITE and 100 pass the first gateway, and all that follows the other one.
    private func talk() -> Heard {
        var heard = Heard()
        trunk.send(request("INVITE"), to: a.folder.address)
        let invite = next(of: pbx, "INVITE ")
        pbx.send(response("100 Trying", to: invite), to: a.folder.address)
        pbx.send(response("180 Ringing", to: invite), to: b.folder.address)
        heard.ringing = next(of: trunk, "SIP/2.0 180")
        pbx.send(response("200 OK", to: invite), to: b.folder.address)
        let answered = next(of: trunk, "SIP/2.0 200")
        heard.route = answered.components(separatedBy: "\r\n").first { $0.hasPrefix("Record-Route: ") } ?? ""
        let routes = ["Route: " + heard.route.dropFirst("Record-Route: ".count)]
        trunk.send(request("ACK", ";tag=b", routes), to: b.folder.address)
        heard.ack = next(of: pbx, "ACK ")
        trunk.send(request("BYE", ";tag=b", routes), to: b.folder.address)
        heard.bye = next(of: pbx, "BYE ")
        pbx.send(response("200 OK", to: heard.bye), to: b.folder.address)
        heard.end = next(of: trunk, "SIP/2.0 200")
        return heard
    }

    private func next(of peer: UDPPeer, _ start: String) -> String {
        while true {
            let message = peer.next()
            if message.isEmpty || message.hasPrefix(start) { return message }
        }
    }

    @Test(arguments: [false, true])
    func `a call that is answered and ends at the other gateway ends in the ledger of the first`(
        reportsByIPv6: Bool
    ) async throws {
        // The loopback interface has one address of IPv6.
        let port = Int.random(in: 20_000..<30_000)
        let (one, other) = ("[::1]:\(port)", "[::1]:\(port + 1)")
        let first = try text(a, b, reports: reportsByIPv6 ? Reports(own: one, other: other) : nil)
        let second = try text(b, a, reports: reportsByIPv6 ? Reports(own: other, other: one) : nil)
        try await b.run(second) { [self] in
            try await a.run(first) { [self] in
                let heard = await UDPPeer.onThread { [self] in talk() }
                #expect(heard.ringing.contains("\r\nCall-ID: c1\r\n"))
                #expect(heard.route.contains("sip:sip.example.com;lr;hd="))
                #expect(!heard.ack.isEmpty && !heard.ack.contains("\r\nRoute:"))
                #expect(!heard.bye.isEmpty && !heard.bye.contains("\r\nRoute:"))
                #expect(heard.end.contains("CSeq: 2 BYE"))
                let call = try #require(try await outcome(a))
                #expect(call.outcome == "ANSWERED")
                #expect(call.answeredAt != nil && call.ringingAt != nil && call.endedAt != nil)
            }
        }
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: b.folder.path + "/state"))
        #expect(try reader.calls(limit: 10).isEmpty, "the second gateway has no call of its own")
    }

    @Test func `a gateway allows its share of a trunk's limits, rounded up`() async throws {
        let divided = try SettingsFixture(a.folder, try text(a, b)).current.topology.trunks[0].admission.limits
        #expect(divided.callsPerSecond == 5.5 && divided.burst == 5 && divided.mostCalls == 3)
        let each = try SettingsFixture(a.folder, try text(a, b, more: ", limits: each")).current
        #expect(each.topology.trunks[0].admission.limits.mostCalls == 5)
    }

    @Test func `a gateway allows its share of a route's limits, and a route without limits has none`() async throws {
        func routes(_ more: String = "") throws -> [CallRoute] {
            let text = try text(a, b, more: more).with(
                "routes",
                "{table: [{numbers: '+4930200*', limits: {calls_per_second: 11, burst: 9, calls: 5}}, "
                    + "{numbers: '+4930300*'}]}")
            return try SettingsFixture(a.folder, text).current.topology.routes.routes
        }
        let divided = try routes()
        #expect(divided[0].admission?.limits == .init(callsPerSecond: 5.5, burst: 5, mostCalls: 3))
        #expect(divided[1].admission == nil)
        #expect(
            try routes(", limits: each")[0].admission?.limits == .init(callsPerSecond: 11, burst: 9, mostCalls: 5))
    }

    @Test func `the first line of the file signs, and the others verify after a reload`() async throws {
        let fixture = try SettingsFixture(a.folder, try text(a, b))
        let old = fixture.current.secret
        #expect(old.previous == nil)
        try a.folder.put(
            Array("ffeeddccbbaa99887766554433221100\n00112233445566778899aabbccddeeff\n".utf8), in: "cluster-secret")
        try fixture.live.use(try HeraldConfiguration.load(path: a.folder.configurationPath, environment: [:]))
        #expect(fixture.current.secret.previous == old)
        #expect(fixture.current.isClustered)
    }

    @Test func `the exchange with siblings stops after the recorder`() async throws {
        let gateway = try await RunningGateway(try a.start(try text(a, b)))
        let names = gateway.services.prefix(2).map { String(describing: type(of: $0)) }
        #expect(names == ["SiblingExchange", "RecorderService"])
        gateway.close()
    }
}
