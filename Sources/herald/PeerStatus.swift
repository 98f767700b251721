// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Logging
import SIPCore
import SIPTransport
import SystemReasons

// How targets are, and how much memory their calls may take, for the status page and the log.

extension GatewayStatusReport {
    /// Adds the trunks, the targets, and what is wrong with all of those that calls from trunks could go to.
    func addPeers(to status: inout GatewayStatus) {
        let now = Moment.now()
        let settings = shards.shared.settings.load()
        status.trunks = settings.topology.trunks.map { trunk in
            .init(name: trunk.name, pbx: trunk.pbx.name, calls: trunk.admission.calls.count)
        }
        status.targets = health.all.map { GatewayStatus.Target($0, at: now) }
        if settings.reportsPBX { status.pbxProblem = settings.topology.pbxProblem(at: now.milliseconds) }
    }
}

extension GatewayStatus.Target {
    fileprivate init(_ standing: TargetStanding, at now: Moment) {
        let (state, since) = standing.state
        let word =
            switch state {
            case .up: "up"
            case .down: "down"
            case .resting: "resting"
            }
        func wall(_ monotonic: UInt64?) -> Int64? {
            monotonic.map { (now.wallMicroseconds - Int64(now.milliseconds &- $0) * 1000) / 1_000_000 }
        }
        self.init(
            group: standing.group, address: standing.address, state: word,
            takesCalls: standing.isUp(at: now.milliseconds), since: wall(since), lastResponse: wall(standing.lastHeard))
    }
}

extension TransactionBudget {
    /// Logs how many transactions are kept at most, and where the number comes from.
    func announce(_ memory: MemoryLimit, _ logger: Logger) {
        let there = "\(MemoryLimit.readable(memory.bytes)) (\(memory.source))"
        let taken = "at most \(most) transactions are kept, which can take \(MemoryLimit.readable(bytes))"
        if isShort {
            logger.warning(
                """
                \(taken) of the memory of \(there): the system may end the gateway in a flood; give it more memory or lower \
                limits.max_transactions
                """)
        } else {
            logger.info("\(taken) of the memory of \(there)\(isConfigured ? "; limits.max_transactions says so" : "")")
        }
    }
}
