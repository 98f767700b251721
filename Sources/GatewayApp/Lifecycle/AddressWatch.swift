// SPDX-License-Identifier: Apache-2.0

import CallPath
import Host
import Logging
import SIPCore
import ServiceLifecycle

/// Looks each second which listening addresses this machine has, for gateways that share one by VRRP.
struct AddressWatch: Service {
    let away: AwaySockets
    /// The addresses in the order of `listen`.
    let bound: [PeerAddress]
    let isClustered: Bool
    let logger: Logger
    /// Reads the addresses of the machine; nil if it cannot.
    var local: @Sendable () -> LocalAddresses? = { LocalAddresses() }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                look()
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Compares the addresses with those of the machine, and logs which have left and arrived.
    ///
    /// Also called before the first call, so that no probe fails for the lack of an address.
    func look() {
        guard let local = local() else { return }
        let before = away.positions
        let now = Set(bound.indices.filter { !local.has(bound[$0].bareHostText) })
        guard now != before else { return }
        away.store(now)
        for host in hosts(now.subtracting(before)) {
            if isClustered {
                logger.notice(
                    "standby: \(host) is at another machine; this gateway takes over when the address arrives")
            } else {
                logger.warning(
                    """
                    this machine does not have \(host) of listen.address: nothing is received or sent there until it arrives; \
                    see the addresses with `ip address`
                    """)
            }
        }
        for host in hosts(before.subtracting(now)) {
            logger.notice("\(host) has arrived at this machine: its targets are probed and its calls are taken")
        }
    }

    private func hosts(_ positions: Set<Int>) -> [String] {
        Set(positions.map { bound[$0].bareHostText }).sorted()
    }
}
