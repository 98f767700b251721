// SPDX-License-Identifier: Apache-2.0

public import SIPCore
import Synchronization

/// Probes targets by OPTIONS and records the responses in their state.
///
/// The first worker sends; any worker receives. The lock is held for some stores. A target is on standby while this machine
/// does not have the address that its probes are sent from.
public final class TargetProber: Sendable {
    private let probes: Mutex<TargetProbes>
    /// Monotonic milliseconds of the next probe; 0 before the first `run`.
    private let deadline = Atomic<UInt64>(0)
    /// The version of the sockets' presence at the latest `run`.
    private let presence = Atomic<UInt64>(0)

    /// - Parameter seed: see `TargetProbes`.
    public init(seed: UInt64) {
        probes = Mutex(TargetProbes(rules: .init(), seed: seed))
    }

    /// The time of the next `run` in monotonic milliseconds; 0 before the first, and after addresses have left or arrived.
    func nextDeadline(_ away: AwaySockets) -> UInt64 {
        presence.load(ordering: .relaxed) == away.version ? deadline.load(ordering: .relaxed) : 0
    }

    /// Sends the probes that are due and records targets without a response; new settings bring new targets.
    func run(
        into outgoing: inout [OutgoingMessage], _ settings: GatewaySettings, areNew: Bool, _ away: AwaySockets,
        at now: Moment
    ) {
        let version = away.version
        let due = change { probes in
            if areNew || presence.load(ordering: .relaxed) != version {
                presence.store(version, ordering: .relaxed)
                let probed = Self.standBy(settings.topology, away.positions)
                probes.watch(probed, rules: settings.probes, at: now.milliseconds)
            }
            return probes.due(at: now.milliseconds)
        }
        for targetState in due.silent { targetState.record(.probeFailed, at: now.milliseconds) }
        for probe in due.send {
            let socket = settings.topology.sockets[probe.target.socket]
            if probe.isRepeat, socket.transport.isReliable { continue }
            let bytes = ProbeRequest.bytes(
                number: probe.number, to: probe.target.address, from: socket, secret: settings.secret)
            outgoing.append(
                OutgoingMessage(
                    bytes: bytes, destination: probe.target.address, socket: probe.target.socket,
                    token: .probe(probe.number)))
        }
    }

    /// Changes the probes, and with them the time of the next `run`.
    private func change<Result>(_ body: (inout TargetProbes) -> Result) -> Result {
        probes.withLock { probes in
            defer { deadline.store(probes.nextDeadline ?? .max, ordering: .relaxed) }
            return body(&probes)
        }
    }

    /// Puts the targets of absent sockets on standby, and gives those to probe.
    private static func standBy(_ topology: GatewayTopology, _ away: Set<Int>) -> [Target] {
        for target in topology.groups.flatMap(\.targets) {
            target.targetState.standBy(away.contains(target.socket))
        }
        return topology.groups.filter(\.isProbed).flatMap(\.targets).filter { !away.contains($0.socket) }
    }

    /// Records a response to a probe; false for every other response.
    func takesResponse(_ response: SIPMessage, _ settings: GatewaySettings, at now: Moment) -> Bool {
        guard let status = response.status, let branch = response.topVia?.value.branch,
            let number = ProbeRequest.number(ofBranch: response[branch], secret: settings.secret)
        else { return false }
        // RFC 3261 §8.1.3.2: a provisional response is not counted.
        guard status >= 200, let targetState = change({ $0.responded(number) }) else { return true }
        let isRefused = status == 408 || status == 503
        targetState.record(isRefused ? .probeRefused(status: status) : .probeSucceeded, at: now.milliseconds)
        return true
    }

    /// Records that a probe could not be delivered.
    func undelivered(_ number: UInt64, at now: Moment) {
        change { $0.undelivered(number) }?.record(.probeUndelivered, at: now.milliseconds)
    }
}

extension GatewayTopology {
    /// The groups of all trunks and PBXs.
    public var groups: [TargetGroup] { trunks.map(\.targets) + pbxs.map(\.targets) }
}
