// SPDX-License-Identifier: Apache-2.0

import CallPath
package import ConfigurationFiles
package import GatewayCluster
import Host
import NIOCore
import Primitives
package import SIPCore

extension HeraldConfiguration.Cluster {
    /// The halves of each secret, the signing one first.
    private var halves: [(UInt64, UInt64)] {
        secrets.compactMap { secret in
            guard let bytes = Hexadecimal.bytes(secret.reveal()), bytes.count == 16 else { return nil }
            func half(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
            return (half(0..<8), half(8..<16))
        }
    }

    /// The secret of the call path; nil if the configuration was loaded without secrets.
    package var secret: Secret? {
        halves.reversed().reduce(nil) { earlier, halves in
            let secret = Secret(key0: halves.0, key1: halves.1)
            return earlier.map { secret.replacing($0) } ?? secret
        }
    }

    /// The keys of datagrams between siblings.
    var keys: SiblingKeys { SiblingKeys(halves.map { SiblingKeys.Key(first: $0.0, second: $0.1) }) }

    /// The hosts of the other gateways, and the common one, in Route and Via.
    var names: [OwnName] {
        siblings.map { OwnName(host: $0.host, port: nil) } + (route.map { [OwnName(host: $0.host, port: nil)] } ?? [])
    }

    /// The addresses and keys of the exchange with siblings.
    ///
    /// - Throws: for an address that the system does not read.
    package func siblingSettings() throws -> SiblingSettings {
        SiblingSettings(
            keys: keys, siblings: try siblings.map { try SocketAddress(ipAddress: $0.host, port: Int($0.port)) })
    }

    /// This gateway's part of a limit, rounded up; nil for no limit.
    func share(_ limit: Int?) -> Int? {
        guard limits == .divided else { return limit }
        return limit.map { ($0 + nodes - 1) / nodes }
    }
}

extension HeraldConfiguration {
    /// Whether a listen entry has the address of `cluster.route`, which moves between the machines.
    package func mayBeAbsent(_ listener: Listener) -> Bool {
        guard let route = cluster?.route, !route.isName, let shared = try? route.peer(),
            let own = try? listener.address.peer()
        else { return false }
        return shared.with(port: 0) == own.with(port: 0)
    }
}

extension HeraldConfiguration.TrunkLimits {
    /// The limits that one gateway applies.
    func admitted(in cluster: HeraldConfiguration.Cluster?) -> TrunkAdmission.Limits {
        let isDivided = cluster?.limits == .divided
        let nodes = Double(isDivided ? cluster?.nodes ?? 1 : 1)
        return TrunkAdmission.Limits(
            callsPerSecond: callsPerSecond.map { Double($0) / nodes }, burst: cluster?.share(burst) ?? burst,
            mostCalls: cluster?.share(calls) ?? calls)
    }
}

extension SiblingLink.Now {
    /// The time of the system's clocks.
    package static var current: SiblingLink.Now {
        SiblingLink.Now(microseconds: SteadyClock.microseconds, wallMicroseconds: ClockStepDetector.wall())
    }
}
