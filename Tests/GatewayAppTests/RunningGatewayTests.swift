// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Foundation
import GatewayStore
import HostSystem
import TestFixtures
import Testing

@testable import GatewayApp

@Suite("A gateway that runs", .serialized, .timeLimit(.minutes(8)))
struct RunningGatewayTests {
    private let fixture: StartFixture
    private let trunk: UDPPeer
    private let trunkAddress: String
    private let pbxAddress: String
    private let text: ConfigurationText

    init() async throws {
        fixture = try await StartFixture()
        trunkAddress = fixture.folder.address.replacing("127.84.", with: "127.86.")
        pbxAddress = fixture.folder.address.replacing("127.84.", with: "127.87.")
        trunk = try UDPPeer(trunkAddress, port: 5060)
        text = fixture.folder.sections.with(
            "trunks", "[{name: carrier, sources: [\(trunkAddress)], next_hop: '\(trunkAddress):5060', trusted: true}]"
        )
        .with("pbx", "[{name: office, address: '\(pbxAddress):5060', probe: false}]")
    }

    /// A request of the trunk, to the gateway itself or to a user of the PBX.
    private func request(_ method: String, _ call: String, user: String = "") -> String {
        [
            "\(method) sip:\(user)\(fixture.folder.address) SIP/2.0",
            "Via: SIP/2.0/UDP \(trunkAddress):5060;branch=z9hG4bK\(call)\(method)",
            "From: <sip:+61255501001@carrier.example>;tag=a", "To: <sip:1001@\(fixture.folder.address)>",
            "Call-ID: \(call)", "CSeq: 1 \(method)", "Max-Forwards: 70", "Content-Length: 0", "", "",
        ].joined(separator: "\r\n")
    }

    @Test func `it responds to OPTIONS of a trunk, and the log reports that it is ready`() async throws {
        try await fixture.run(text) { [self] in
            trunk.send(request("OPTIONS", "o1"), to: fixture.folder.address)
            let response = await trunk.receive()
            #expect(response.hasPrefix("SIP/2.0 200 "), "\(response)")
        }
        let lines = fixture.log.all
        #expect(lines.contains("info listening [name: sip, udp: \(fixture.folder.address):5060]"))
        let ready = lines.firstIndex { $0.hasPrefix("info ready for calls [") }
        let limit = lines.firstIndex { $0.contains("transactions are kept") }
        #expect(ready != nil && limit != nil && ready ?? 0 < limit ?? 0, "\(lines)")
    }

    @Test func `a call is in the ledger after the stop`() async throws {
        let pbx = try UDPPeer(pbxAddress, port: 5060)
        try await fixture.run(text) { [self] in
            trunk.send(request("INVITE", "i1", user: "1001@"), to: fixture.folder.address)
            let invite = await pbx.receive()
            #expect(invite.hasPrefix("INVITE "))
            let copied = invite.components(separatedBy: "\r\n").filter { line in
                ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
            }
            let busy = (["SIP/2.0 486 Busy Here"] + copied + ["Content-Length: 0", "", ""]).joined(separator: "\r\n")
            pbx.send(
                busy.replacing(
                    "To: <sip:1001@\(fixture.folder.address)>", with: "To: <sip:1001@\(fixture.folder.address)>;tag=b"),
                to: fixture.folder.address)
            var response = await trunk.receive()
            while response.hasPrefix("SIP/2.0 100") { response = await trunk.receive() }
            #expect(response.hasPrefix("SIP/2.0 486"))
        }
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: fixture.folder.path + "/state"))
        let calls = try reader.calls(limit: 10)
        #expect(calls.map(\.sipCallID) == ["i1"])
        #expect(calls.first?.status == 486)
        #expect(calls.first?.trunk == "carrier")
    }

    @Test func `an admin port in use ends the run before the first call`() async throws {
        let other = try FaultyPeer { _, _ in .status(200) }
        let port = other.port
        let taken = text.with("admin", "{listen: '127.0.0.1:\(port)'}")
        let error = await #expect(throws: ListenRefusal.self) { try await fixture.runToFailure(taken) }
        #expect(error?.description.contains("127.0.0.1:\(port)") == true)
        #expect(error?.description.hasSuffix("or change admin.listen") == true, "\(error?.description ?? "")")
        #expect(!fixture.log.text.contains("ready for calls"))
        other.close()
    }

    @Test func `services stop in the reverse order of their start, calls first`() async throws {
        let gateway = try await RunningGateway(try fixture.start(text))
        let names = gateway.services.map { String(describing: type(of: $0)) }
        #expect(
            names == [
                "RecorderService", "RecorderWatchService", "StateWatchService", "ReplaceableServices",
                "ReplaceableServices", "ReplaceableServices", "RejectionService", "ControlServer", "TraceService",
                "HEPExporter", "SystemdReport",
                "ReloadService", "ResolverService", "WorkerService",
            ])
        gateway.close()
    }
}
