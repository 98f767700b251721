// SPDX-License-Identifier: Apache-2.0

package import SIPCore
import Synchronization

/// Probes targets by OPTIONS and records the responses in their state.
///
/// The first worker sends; any worker receives. The lock is held for some stores.
package final class TargetProber: Sendable {
    private struct State {
        var probes: TargetProbes
        var settings: ObjectIdentifier?
    }

    private let state: Mutex<State>

    /// - Parameter seed: see `TargetProbes`.
    package init(seed: UInt64) {
        state = Mutex(State(probes: TargetProbes(rules: .init(), seed: seed), settings: nil))
    }

    /// The time of the next `run` in monotonic milliseconds; 0 before the first.
    var nextDeadline: UInt64? { state.withLock { $0.settings == nil ? 0 : $0.probes.nextDeadline } }

    /// Sends the probes that are due and records targets without a response; new settings bring new targets.
    func run(into outgoing: inout [OutgoingMessage], _ settings: GatewaySettings, at now: Moment) {
        let due = state.withLock { state in
            if state.settings != ObjectIdentifier(settings) {
                state.settings = ObjectIdentifier(settings)
                let groups = settings.topology.groups.filter(\.isProbed)
                state.probes.watch(groups.flatMap(\.targets), rules: settings.probes, at: now.milliseconds)
            }
            return state.probes.due(at: now.milliseconds)
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

    /// Records a response to a probe; false for every other response.
    func takesResponse(_ response: SIPMessage, _ settings: GatewaySettings, at now: Moment) -> Bool {
        guard let status = response.status, let branch = response.topVia?.value.branch,
            let number = ProbeRequest.number(ofBranch: response[branch], secret: settings.secret)
        else { return false }
        // RFC 3261 §8.1.3.2: a provisional response is not counted.
        guard status >= 200, let targetState = state.withLock({ $0.probes.responded(number) }) else { return true }
        targetState.record(status == 408 || status == 503 ? .probeRefused : .probeSucceeded, at: now.milliseconds)
        return true
    }

    /// Records that a probe could not be delivered.
    func undelivered(_ number: UInt64, at now: Moment) {
        state.withLock { $0.probes.undelivered(number) }?.record(.probeRefused, at: now.milliseconds)
    }
}

extension GatewayTopology {
    /// The groups of all trunks and PBXs.
    package var groups: [TargetGroup] { trunks.map(\.targets) + pbxs.map(\.targets) }
}
