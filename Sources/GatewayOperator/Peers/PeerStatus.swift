// SPDX-License-Identifier: Apache-2.0

import CallPath
import SIPCore
import SIPTransport

extension GatewayStatusReport {
    /// Those of `listening` whose address this machine does not have at present.
    var standby: [String] { shards.shared.away.positions.sorted().map { listening[$0] } }

    /// Adds trunks, targets, and the problem of PBXs that calls from trunks cannot reach.
    func addPeers(to status: inout GatewayStatus) {
        let now = Moment.now()
        let settings = shards.shared.settings.load()
        status.trunks = settings.topology.trunks.map { trunk in
            .init(name: trunk.name, pbx: trunk.pbx.name, calls: trunk.admission.calls.count)
        }
        status.standby = standby
        status.targets = health.all.map { GatewayStatus.Target($0, at: now) }
        if settings.reportsPBX { status.pbxProblem = settings.topology.pbxProblem(at: now.milliseconds) }
    }
}

extension GatewayStatus.Target {
    fileprivate init(_ target: TargetState, at now: Moment) {
        let (state, changedAt, failure) = target.state
        let word =
            switch state {
            case _ where target.isDisabled: "disabled"
            case _ where target.isStandingBy: "standby"
            case .up: failure == nil ? "up" : "failing"
            case .down: "down"
            case .resting: "resting"
            }
        func wall(_ monotonic: UInt64?) -> Int64? {
            monotonic.map { (now.wallMicroseconds - Int64(now.milliseconds &- $0) * 1000) / 1_000_000 }
        }
        let since = word == "failing" ? failure?.since : changedAt
        self.init(
            group: target.group, address: target.address, state: word,
            takesCalls: target.isUp(at: now.milliseconds), since: wall(since),
            cause: failure.map(TargetLine.cause), lastResponse: wall(target.lastReceivedAt),
            calls: target.openCalls, callsSent: target.sentCalls)
    }
}
