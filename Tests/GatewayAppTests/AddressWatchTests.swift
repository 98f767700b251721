// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import GatewayStore
import GatewayTesting
import Host
import SIPCore
import SIPTransport
import Synchronization
import Testing

@testable import GatewayApp
@testable import GatewayOperator

@Suite("The shared address of a gateway", .serialized, .timeLimit(.minutes(8)))
struct AddressWatchTests {
    /// TEST-NET-3 (RFC 5737): no machine has it.
    private static let shared = "203.0.113.77"
    private let log = LogLines()
    private let away = AwaySockets()

    /// The addresses that the machine has.
    private final class Machine: Sendable {
        private let hosts = Mutex<[String]?>(["192.0.2.11"])

        func have(_ list: [String]?) { hosts.withLock { $0 = list } }

        var addresses: LocalAddresses? { hosts.withLock { $0 }.map { LocalAddresses($0) } }
    }

    private func watch(_ machine: Machine, isClustered: Bool = true) -> AddressWatch {
        AddressWatch(
            away: away,
            bound: [
                PeerAddress(ipv4: 0xC000_020B, port: 5060), PeerAddress(ipv4: 0xC000_020A, port: 5060),
                PeerAddress(ipv4: 0xC000_020A, port: 5061), PeerAddress(ipv4: 0, port: 5062),
            ],
            isClustered: isClustered, logger: log.logger, local: { machine.addresses })
    }

    @Test func `sockets follow the addresses of the machine, with one line for each change`() {
        let machine = Machine()
        let watch = watch(machine)
        watch.look()
        watch.look()
        #expect(away.positions == [1, 2], "not the own address, nor the wildcard")
        #expect(
            log.take() == [
                "notice standby: 192.0.2.10 is at another machine; this gateway takes over when the address arrives"
            ])
        machine.have(["192.0.2.11", "192.0.2.10"])
        watch.look()
        #expect(away.positions.isEmpty)
        #expect(
            log.take() == [
                "notice 192.0.2.10 has arrived at this machine: its targets are probed and its calls are taken"
            ])
    }

    @Test func `a gateway that is alone warns, because nobody else has the address`() {
        watch(Machine(), isClustered: false).look()
        #expect(log.text.hasPrefix("warning this machine does not have 192.0.2.10 of listen.address"))
    }

    @Test func `what is known stays while the system does not list its addresses`() {
        let machine = Machine()
        let watch = watch(machine)
        watch.look()
        machine.have(nil)
        watch.look()
        #expect(away.positions == [1, 2])
    }

    @Test func `a gateway starts without the shared address, and is ready as a standby`() async throws {
        let fixture = try await StartFixture()
        try fixture.folder.put(Array("00112233445566778899aabbccddeeff\n".utf8), in: "cluster-secret")
        let text = fixture.folder.sections
            .with(
                "listen",
                "[{name: udp, address: '\(Self.shared):5060'}, "
                    + "{name: tcp, address: '\(Self.shared):5060', transport: tcp}]"
            )
            .with(
                "cluster",
                "{secret_file: cluster-secret, listen: '\(fixture.folder.address):5070', "
                    + "siblings: ['\(fixture.folder.address):5071'], route: \(Self.shared)}")
        let start = try fixture.start(text)
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        let report = try GatewayServices(start, resources, state, callPath).statusReport
        #expect(Self.probes(callPath).isEmpty)
        var status = await report.status()
        #expect(status.standbyText == "standby: \(Self.shared) is at another machine")
        #expect(status.isStandby && status.obstacle == nil && Set(status.targets.map(\.state)) == ["standby"])
        #expect(status.targets.allSatisfy { !$0.isInUse })
        let present = await report.gauges().filter { $0.name == "herald_address_present" }
        #expect(present.map(\.value) == [0] && present[0].labels.map(\.value) == [Self.shared])
        callPath.shared.away.store([])
        #expect(!Self.probes(callPath).isEmpty)
        status = await report.status()
        #expect(status.standbyText == nil && !status.isStandby && status.targets.allSatisfy(\.isInUse))
        try state.database.close()
        await resources.transport.streams?.stop()
    }

    @Test func `a wrong address of a gateway that is alone still stops its start`() async throws {
        let fixture = try await StartFixture()
        let text = fixture.folder.sections.with("listen", "[{name: udp, address: '\(Self.shared):5060'}]")
        await #expect(throws: UDPSocketError.self) { try await fixture.resources(text) }
    }

    @Test func `the doctor has no error for it, and asks no target from there`() async throws {
        let fixture = try await StartFixture()
        let configuration = try fixture.folder.configuration(
            fixture.folder.sections.with("listen", "[{name: udp, address: '\(Self.shared):5060'}]"))
        let findings = await DoctorOptions(configuration, [:], isRunning: true).findings()
        #expect(findings.map(\.level) == [.note])
        #expect(findings[0].text.contains("this machine does not have \(Self.shared)"))
    }

    /// The messages of the first three seconds of a worker.
    private static func probes(_ parts: CallPathParts) -> [OutgoingMessage] {
        let element = GatewayElement(shards: parts.workers.shards)
        var sent: [OutgoingMessage] = []
        var now = Moment.now()
        for _ in 0..<3 {
            element.fireTimers(at: now)
            var batch: [OutgoingMessage] = []
            if element.exchangeOutgoing(for: &batch) { sent += batch }
            now.milliseconds += 1000
        }
        return sent
    }
}
