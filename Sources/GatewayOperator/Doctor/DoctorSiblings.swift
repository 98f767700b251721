// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayCluster
import GatewayConfiguration
import Host
import NIOCore

/// Asks every sibling of the cluster for its clock and its secret.
struct DoctorSiblings: Sendable {
    /// The clock offset that is worth a warning, in seconds; NTP keeps clocks within milliseconds.
    private static let tolerance = 1.0

    private let configuration: HeraldConfiguration
    private let path: String

    init(_ configuration: HeraldConfiguration, path: String) {
        self.configuration = configuration
        self.path = path
    }

    /// A finding for each sibling, each after `patience` at the latest; none without a cluster.
    func findings(patience: Duration) async -> [DoctorFinding] {
        guard configuration.cluster != nil else { return [] }
        guard let cluster = try? HeraldConfiguration.load(path: path).cluster,
            let settings = try? cluster.siblingSettings()
        else {
            return [
                DoctorFinding(
                    "siblings", .note, "not asked: this user cannot read cluster.secret_file; run the command as herald"
                )
            ]
        }
        return await withTaskGroup(of: DoctorFinding.self) { group in
            for sibling in settings.siblings {
                group.addTask { await Self.finding(sibling, settings.keys, patience) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.text < $1.text }
        }
    }

    private static func finding(
        _ sibling: SocketAddress, _ keys: SiblingKeys, _ patience: Duration
    ) async -> DoctorFinding {
        let address = sibling.endpointText
        let probe = SiblingProbe(sibling, keys) { .current }
        switch (try? await probe.ask(patience: patience)) ?? .silent {
        case .responded(let offset):
            let seconds = Double(offset) / 1_000_000
            guard abs(seconds) < tolerance else {
                return DoctorFinding(
                    "siblings", .warning,
                    "\(address): its clock is \(Int(seconds.rounded())) s away from this one; start an NTP client on both"
                )
            }
            return DoctorFinding("siblings", .ok, "\(address) has the same secret, clocks agree")
        case .otherSecret:
            return DoctorFinding(
                "siblings", .error,
                "\(address) has another secret; copy the file of cluster.secret_file and reload both gateways")
        case .silent:
            return DoctorFinding(
                "siblings", .warning,
                "\(address) does not respond; see whether it runs, lists this machine in cluster.siblings, and UDP reaches it"
            )
        }
    }
}
