// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("A gateway that runs", .serialized, .timeLimit(.minutes(8)))
struct RunningGatewayTests {
    private let fixture: CallFixture
    private var text: ConfigurationText { fixture.text }

    init() async throws { fixture = try await CallFixture() }

    @Test func `it responds to OPTIONS of a trunk, and the log reports that it is ready`() async throws {
        try await fixture.starts.run(text) { [fixture] in
            fixture.send("OPTIONS", "o1", user: "")
            let response = await fixture.trunk.receive()
            #expect(response.hasPrefix("SIP/2.0 200 "), "\(response)")
        }
        let lines = fixture.log.all
        #expect(lines.contains("info listening [name: sip, udp: \(fixture.folder.address):5060]"))
        let ready = lines.firstIndex { $0.hasPrefix("info ready for calls [") }
        let limit = lines.firstIndex { $0.contains("transactions are kept") }
        #expect(ready != nil && limit != nil && ready ?? 0 < limit ?? 0, "\(lines)")
    }

    @Test func `a call is in the ledger after the stop`() async throws {
        let pbx = try fixture.pbx()
        try await fixture.starts.run(text) { [fixture] in await fixture.place("i1", pbx) }
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: fixture.folder.path + "/state"))
        let calls = try reader.calls(limit: 10)
        #expect(calls.map(\.sipCallID) == ["i1"])
        #expect(calls.first?.status == 486)
        #expect(calls.first?.trunk == "carrier")
    }

    /// Calls in progress; nil before the control socket is there.
    private static func calls(_ control: ControlClient) async throws -> Int? {
        try? await control.state().callsInProgress
    }

    @Test func `a carrier with a new address is named with the line to add`() async throws {
        let host = fixture.trunkAddress.replacing("127.86.", with: "127.88.")
        let carrier = try UDPPeer(host, port: 5060)
        let start = try fixture.starts.start(text)
        let control = ControlClient(folder: start.configuration.runtime)
        let path = fixture.folder.configurationPath
        try await fixture.starts.run(text) { [fixture] in
            try await fixture.until { try await Self.calls(control) != nil }
            #expect(try await control.state().gateway.unknownCallers == nil)
            let invite = fixture.request("INVITE", "n1").replacing(fixture.trunkAddress, with: host)
            carrier.send(invite, to: fixture.folder.address)
            #expect(await carrier.receive().hasPrefix("SIP/2.0 403 "))
            try await fixture.until { try await control.state().gateway.unknownCallers != nil }
            let state = try await control.state()
            let line = "sources: [\(fixture.trunkAddress), \(host)]"
            #expect(state.gateway.unknownCallers?.callers.first?.line == line)
            #expect(StatusText(state).text.contains("rejected  1 INVITE of the unknown peer \(host) rejected"))
            let troubles = PageTroubles(state.gateway, further: []).all
            #expect(troubles.contains { $0.title == "INVITEs of \(host) are rejected" && $0.text.contains(line) })
            let findings = await Doctor(path: path).examine().findings
            #expect(findings.contains { $0.level == .warning && $0.text.contains(line) })
            // The remedy as printed is the one that helps.
            try fixture.folder.write(
                fixture.text.with(
                    "trunks",
                    "[{name: carrier, \(line), next_hop: '\(fixture.trunkAddress):5060', trusted: true}]"))
            #expect(try await control.reload().applied)
            carrier.send(invite.replacing("n1", with: "n2"), to: fixture.folder.address)
            #expect(await carrier.receive().hasPrefix("SIP/2.0 100 "))
        }
    }

    @Test func `an admin port in use ends the run before the first call`() async throws {
        let other = try FaultyPeer { _, _ in .status(200) }
        let port = other.port
        let taken = text.with("admin", "{listen: '127.0.0.1:\(port)'}")
        let error = await #expect(throws: ListenRefusal.self) { try await fixture.starts.runToFailure(taken) }
        #expect(error?.description.contains("127.0.0.1:\(port)") == true)
        #expect(error?.description.hasSuffix("or change admin.listen") == true, "\(error?.description ?? "")")
        #expect(!fixture.log.text.contains("ready for calls"))
        other.close()
    }

    @Test func `services stop in the reverse order of their start, calls first`() async throws {
        let gateway = try await RunningGateway(try fixture.starts.start(text))
        let names = gateway.services.map { String(describing: type(of: $0)) }
        #expect(
            names == [
                "RecorderService", "RecorderWatchService", "StateWatchService",
                "AccountServices", "CustomerOutboxWatch", "ReplaceableServices", "ReplaceableServices",
                "ReplaceableServices", "RejectionService", "ControlServer", "TestCallService", "TraceService",
                "HEPExporter", "AddressWatch", "AlarmService", "ReplaceableServices", "ReplaceableServices",
                "SystemdReport",
                "ReloadService", "ResolverService", "WorkerService",
            ])
        gateway.close()
    }
}
