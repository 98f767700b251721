// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
package import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
package import Host
import Primitives
import SIPCore
import SIPTransport

/// `herald simulate`: walks a pasted INVITE through the call path of a configuration and the stored brands.
///
/// Sends nothing and stores nothing; works without a running gateway and beside one.
package struct CallSimulator {
    private let configuration: HeraldConfiguration
    private let trunk: String?
    private let source: String?
    /// The time of the call in Unix seconds; nil for now.
    private let time: Int64?

    /// - Parameters:
    ///   - trunk: name of the trunk that brings the call; nil finds it by the source.
    ///   - source: address of the sender, such as `203.0.113.5:5060`; nil for the one in the paste.
    ///   - time: the time of the call, as `OperatorTime.ofCall(_:)` reads it; nil for now.
    /// - Throws: for a time that cannot be read.
    package init(
        _ configuration: HeraldConfiguration, trunk: String?, source: String?, at time: String? = nil
    ) throws(CommandFailure) {
        (self.configuration, self.trunk, self.source) = (configuration, trunk, source)
        self.time = try OperatorTime.ofCall(time)
    }

    /// Simulates the call.
    ///
    /// - Throws: `CommandFailure` for a text without an INVITE, an unknown trunk or sender, and unreadable brands.
    package func simulate(_ text: String) throws -> SimulationReport {
        let paste = try CommandFailure.reported { try PastedInvite(text) }
        let hops = configuration.standInHops
        let settings = try settings(hops)
        let arrival = try arrival(of: paste, settings.topology)
        let simulation = try simulation(paste, arrival, settings)
        let trunk = try sendingTrunk(simulation, arrival)
        let caller = simulation.caller(on: trunk)
        let route = simulation.route(on: trunk)
        let ofRoute = configuration.routes.table.first { $0.name == route?.name }?.customer
        let customer = ofRoute.map { configuration.customers[$0] }
        let own = configuration.seen(by: customer)
        let stored = try CommandFailure.reported { try StoredBrands(own, of: caller.number) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "herald-simulate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let ring = try UpdateRing(path: folder.path + "/updates.ring", capacity: 64)
        let result = simulation.run(
            BrandingSnapshot(index: stored.index, gates: stored.gates, cards: stored.cards), updates: ring,
            trust: try trust(of: trunk), at: moment)
        let names = Dictionary(
            hops.flatMap { name, hops in hops.map { ($0.address, "\(name)") } }, uniquingKeysWith: { first, _ in first }
        )
        return SimulationReport(
            paste: paste, time: time, sender: "\(arrival.flow.source) (\(arrival.origin))", trunk: trunk, route: route,
            customer: customer?.name, caller: caller, isInDialog: simulation.isInDialog, stored: stored, result: result,
            target: result.target.map { names[$0] ?? "\($0)" }, isEnabled: configuration.branding.isEnabled)
    }

    private var moment: Moment {
        var moment = Moment.now()
        if let time { moment.wallMicroseconds = time * 1_000_000 }
        return moment
    }

    /// The stored signers, for a trunk whose calls are verified.
    private func trust(of trunk: TrunkPeer) throws(CommandFailure) -> GatewayTrust {
        guard trunk.signatures != nil else { return GatewayTrust() }
        do throws(HeraldDatabaseError) {
            return GatewayTrust(signers: CurrentTrust(try SignerReader(folder: configuration.state).snapshot()))
        } catch {
            guard error.problem == .missing else { throw CommandFailure("\(error)") }
            return GatewayTrust()
        }
    }

    private func settings(_ hops: [NextHopName: [ResolvedHop]]) throws -> GatewaySettings {
        // Another peer with the same address must not take the call of a named trunk.
        var chosen = configuration
        if let trunk { chosen.trunks.removeAll { $0.name != trunk } }
        return try chosen.settingsWithoutNetwork(hops)
    }

    private func simulation(
        _ paste: PastedInvite, _ arrival: Arrival, _ settings: GatewaySettings
    ) throws -> CallSimulation {
        do {
            return try CallSimulation(paste.bytes, by: arrival.flow, settings)
        } catch SIPIndexError.overLimit {
            throw CommandFailure(
                "the gateway would reject this message with 513: it has \(paste.bytes.count) bytes, and "
                    + "limits.max_message is \(settings.limits.messageBytes)")
        } catch SIPIndexError.tooManyFields {
            let fields = MessageOutline(paste.bytes.span).fields
            throw CommandFailure(
                "the gateway would reject this message with 513: it has \(fields) header fields, and "
                    + "limits.max_headers is \(settings.limits.headerFields)")
        } catch {
            let reason = (error as? SIPIndexError)?.rawValue ?? "\(error)"
            throw CommandFailure(
                "the gateway would reject this message (\(reason)): it is no complete SIP message; paste all of its lines"
            )
        }
    }

    private func sendingTrunk(_ simulation: CallSimulation, _ arrival: Arrival) throws -> TrunkPeer {
        switch simulation.sender {
        case .trunk(let trunk): return trunk
        case .pbx(let name):
            throw CommandFailure(
                "\(arrival.flow.source) is pbx \(name): calls from a PBX are forwarded without a "
                    + "brand; give --trunk NAME to "
                    + "see the call as a carrier's")
        case .unknown:
            throw CommandFailure(
                "\(arrival.flow.source) (\(arrival.origin)) is no peer: the gateway rejects the call "
                    + "with 403, since no trunk "
                    + "lists this address in sources; give --trunk NAME, one of \(names), or --from ADDRESS")
        }
    }

    private var names: String { configuration.trunks.map(\.name).joined(separator: ", ") }

    /// The way of the INVITE, and how it was found.
    private struct Arrival {
        let flow: Flow
        let origin: String
    }

    private func arrival(of paste: PastedInvite, _ topology: GatewayTopology) throws -> Arrival {
        if let trunk {
            guard let peer = topology.trunks.first(where: { $0.name == trunk }) else {
                throw CommandFailure(configuration.noTrunk(named: trunk))
            }
            return Arrival(flow: flow(of: peer, at: source), origin: "--trunk")
        }
        if let source {
            guard let address = Self.address(source) else {
                throw CommandFailure(
                    "--from \(source) is no address; write 203.0.113.5, 203.0.113.5:5060 or [2001:db8::5]:5060")
            }
            return Arrival(flow: flow(from: address, topology), origin: "--from")
        }
        let found = [(paste.source, "the log line"), (via(of: paste), "the topmost Via")]
        for (text, origin) in found {
            guard let address = text.flatMap(Self.address) else { continue }
            let flow = flow(from: address, topology)
            if topology.peer(of: flow) != nil { return Arrival(flow: flow, origin: origin) }
        }
        guard let only = topology.trunks.first, topology.trunks.count == 1 else {
            throw CommandFailure("the sender is not known from the message; give --trunk NAME, one of \(names)")
        }
        return Arrival(flow: flow(of: only, at: nil), origin: "the only trunk")
    }

    /// The address of the topmost Via: `received` and `rport` before the sent-by.
    private func via(of paste: PastedInvite) -> String? {
        guard let message = try? SIPMessage.index(paste.bytes), let via = message.topVia?.value else { return nil }
        let host = via.received ?? via.host
        let port =
            via.rport.flatMap { Int(String(decoding: message[$0], as: UTF8.self)) } ?? via.port.map(Int.init) ?? 5060
        return "\(String(decoding: message[host], as: UTF8.self)):\(port)"
    }

    /// A flow that belongs to the trunk.
    private func flow(of trunk: TrunkPeer, at text: String?) -> Flow {
        let own =
            trunk.sources.first.map { $0.network.with(port: $0.port ?? 5060) } ?? trunk.targets.targets.first?.address
        let address = text.flatMap(Self.address) ?? own ?? PeerAddress(ipv4: 0xC000_0001, port: 5060)
        return Flow(
            source: address, socket: trunk.socket,
            certificate: trunk.certificateNames.isEmpty ? nil : PeerCertificate(names: trunk.certificateNames))
    }

    /// A flow from an address to the first listener that knows it.
    private func flow(from address: PeerAddress, _ topology: GatewayTopology) -> Flow {
        let flows = topology.sockets.filter { $0.address.isIPv6 == address.isIPv6 }.map {
            Flow(source: address, socket: $0.position)
        }
        return flows.first { flow in
            if case .trunk(let trunk) = topology.peer(of: flow) { trunk.socket == flow.socket } else { false }
        } ?? flows.first { topology.peer(of: $0) != nil } ?? flows.first ?? Flow(source: address, socket: 0)
    }

    private static func address(_ text: String) -> PeerAddress? {
        try? EndpointAddress.read(text, defaultPort: 5060).peer()
    }
}
