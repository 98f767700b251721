// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Host
import SIPCore
import SIPTransport

/// Sends OPTIONS to the targets of PBXs and trunks over UDP, and opens a connection to those of TCP and TLS.
///
/// From a free port, so that a running gateway is not disturbed. A peer that checks the port of its senders may therefore be
/// silent here and respond to the gateway.
struct DoctorOptions: Sendable {
    private struct Probe: Sendable {
        let group: String
        let address: PeerAddress
        let transport: SIPTransportKind
        let local: String
    }

    private let probes: [Probe]
    private let absent: [Probe]
    private let isRunning: Bool

    /// - Parameter hops: the addresses of names.
    init(_ configuration: HeraldConfiguration, _ hops: [NextHopName: [ResolvedHop]], isRunning: Bool) {
        self.isRunning = isRunning
        let peers = ResolvedPeers(configuration, hops)
        let groups =
            configuration.pbx.map { ("pbx \($0.name)", $0.targets) }
            + configuration.trunks.map { ("trunk \($0.name)", $0.targets) }
        let local = LocalAddresses()
        let all = groups.flatMap { group, targets in
            targets.flatMap { target in
                let listener = configuration.listen[target.listener]
                return ((try? peers.addresses(of: target)) ?? []).map { hop in
                    Probe(
                        group: group, address: hop.address, transport: listener.transport, local: listener.address.host)
                }
            }
        }
        probes = all.filter { local?.has($0.local) ?? true }
        absent = all.filter { !(local?.has($0.local) ?? true) }
    }

    /// A finding for each target, and one for those that cannot be asked for the lack of an address.
    func findings() async -> [DoctorFinding] {
        let hosts = Set(absent.map(\.local)).sorted().joined(separator: " and ")
        let unasked = DoctorFinding(
            "options", .note,
            "\(absent.count == 1 ? "1 target is" : "\(absent.count) targets are") not asked: this machine does not have \(hosts); run the command where the address is"
        )
        return (absent.isEmpty ? [] : [unasked]) + (await asked())
    }

    private func asked() async -> [DoctorFinding] {
        await withTaskGroup(of: (Int, DoctorFinding).self) { group in
            for (position, probe) in probes.enumerated() {
                group.addTask { (position, await Doctor.onThread { examine(probe) }) }
            }
            let all = await group.reduce(into: [(Int, DoctorFinding)]()) { $0.append($1) }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func examine(_ probe: Probe) -> DoctorFinding {
        let name = "\(probe.group) at \(probe.address)"
        let isPBX = probe.group.hasPrefix("pbx ")
        switch Self.response(to: probe) {
        case .success(let status) where probe.transport != .udp:
            return DoctorFinding(
                "options", .ok, "\(name) accepts \(probe.transport.word.uppercased()) connections\(status)")
        case .success(let status) where status.hasPrefix("503") || status.hasPrefix("408"):
            return DoctorFinding(
                "options", isPBX ? .error : .warning,
                "\(name) responds to OPTIONS with \(status), so Herald counts it as down; see its log, and whether it is "
                    + "overloaded or stops")
        case .success(let status): return DoctorFinding("options", .ok, "\(name) responds to OPTIONS with \(status)")
        case .failure(let failure) where failure.isSilence:
            return DoctorFinding(
                "options", isPBX ? .warning : .note,
                "\(name) does not respond to OPTIONS: it is down, a firewall drops UDP, it ignores "
                    + "OPTIONS, or it knows Herald by its port; compare herald targets"
            )
        case .failure(let failure):
            return DoctorFinding(
                "options", isPBX ? .error : .warning,
                "\(name): \(failure.text); check the address, the peer's service and the firewall")
        }
    }

    private struct Failure: Error {
        let text: String
        var isSilence = false
    }

    /// The status line of the response; empty for a connection.
    private static func response(to probe: Probe) -> Result<String, Failure> {
        let isUDP = probe.transport == .udp
        let kind = Int32((isUDP ? SOCK_DGRAM : SOCK_STREAM).rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(probe.address.isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else { return .failure(Failure(text: SystemError.text(errno))) }
        defer { close(descriptor) }
        var wait = timeval(tv_sec: 2, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &wait, socklen_t(MemoryLayout<timeval>.size))
        }
        // From the gateway's own address, which the peer knows; a wildcard leaves the choice to the system.
        if let own = SocketAddressBytes(host: probe.local, port: 0) { _ = own.withAddress { bind(descriptor, $0, $1) } }
        guard let peer = SocketAddressBytes(host: probe.address.bareHostText, port: probe.address.port),
            peer.withAddress({ connect(descriptor, $0, $1) }) == 0
        else {
            let code = errno
            return .failure(Failure(text: code == EINPROGRESS ? "no connection in time" : SystemError.text(code)))
        }
        return isUDP ? exchange(descriptor, probe) : .success("")
    }

    private static func exchange(_ descriptor: Int32, _ probe: Probe) -> Result<String, Failure> {
        guard let own = OwnSocketAddress.of(descriptor) else {
            return .failure(Failure(text: SystemError.text(errno)))
        }
        let request = ProbeRequest.bytes(
            number: UInt64.random(in: 1 ... .max), to: probe.address,
            from: LocalSocket(position: 0, address: own), secret: Secret(key0: .random(in: 0 ... .max), key1: 0))
        var buffer = [UInt8](repeating: 0, count: 65_535)
        for _ in 0..<2 {
            guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
                return .failure(Failure(text: SystemError.text(errno)))
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                let line = String(decoding: buffer[..<count].prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
                return .success(line.replacing("SIP/2.0 ", with: "", maxReplacements: 1))
            }
            guard errno == EAGAIN || errno == EINTR else { return .failure(Failure(text: SystemError.text(errno))) }
        }
        return .failure(Failure(text: "no response", isSilence: true))
    }
}
