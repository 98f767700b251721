// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayCluster
import Host
import PostgreSQL

/// Connects to the shared ledger and reads the list of its gateways; blocks.
struct DoctorSharedLedger {
    private let configuration: HeraldConfiguration
    private let path: String

    init(_ configuration: HeraldConfiguration, path: String) {
        self.configuration = configuration
        self.path = path
    }

    private static func adoption(of node: SharedLedgerReader.Node) -> String {
        node.adopter.map { ", and \($0) goes on with its open calls" } ?? ""
    }

    /// None without a shared ledger.
    func findings(patience: Duration) -> [DoctorFinding] {
        guard let address = configuration.cluster?.ledger else { return [] }
        let withPassword = (try? HeraldConfiguration.load(path: path))?.cluster?.ledger
        do {
            let reader = SharedLedgerReader(withPassword ?? address, timeLimit: patience)
            let replication = Self.replication(try reader.replication())
            let nodes = try reader.nodes()
            let silent = nodes.filter { $0.silentFor > 60 }.map {
                DoctorFinding(
                    "shared ledger", .warning,
                    "\($0.name) has written nothing for \(AgeText.text(Int64($0.silentFor)))\(Self.adoption(of: $0)); see whether it runs"
                )
            }
            let names = nodes.map(\.name).joined(separator: ", ")
            let ok = DoctorFinding(
                "shared ledger", .ok, names.isEmpty ? "\(address) responds; no gateway yet" : "\(address): \(names)")
            return [ok] + silent + strangers(nodes) + replication
        } catch {
            guard withPassword != nil else {
                return [
                    DoctorFinding(
                        "shared ledger", .note,
                        "not asked: this user cannot read the file of its password; run the command as herald")
                ]
            }
            return [DoctorFinding("shared ledger", .warning, "\(error)")]
        }
    }

    /// Gateways that this one never adopts, because it does not know their address.
    private func strangers(_ nodes: [SharedLedgerReader.Node]) -> [DoctorFinding] {
        guard let cluster = configuration.cluster else { return [] }
        let known = Set((cluster.siblings + [cluster.listen]).map(\.description))
        return nodes.compactMap { node in
            guard let address = node.address, !known.contains(address), node.name != configuration.id else {
                return nil
            }
            return DoctorFinding(
                "shared ledger", .warning,
                """
                \(node.name) has cluster.listen \(address), which is not in cluster.siblings here: this gateway does not go on \
                with its calls when it dies; write one address at both places
                """)
        }
    }

    private static func replication(_ replication: PostgreSQLReplication) -> [DoctorFinding] {
        let remarks = replication.remarks.map {
            DoctorFinding("shared ledger", $0.isProblem ? .warning : .note, $0.text)
        }
        guard replication.isPrimary else { return remarks }
        return [DoctorFinding("shared ledger", .ok, "server: \(replication.summary)")] + remarks
    }
}
