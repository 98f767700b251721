// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The standbys of a server, and whether its commits wait for them (PostgreSQL 15 manual, "pg_stat_replication").
package struct PostgreSQLReplication: Sendable, Hashable, Codable {
    /// A standby that is attached to the server.
    package struct Standby: Sendable, Hashable, Codable {
        /// Its `application_name`, which `synchronous_standby_names` refers to.
        package let name: String
        /// `streaming`, or `startup`, `catchup`, `backup` or `stopping`.
        package let state: String
        /// `sync` or `quorum` for a synchronous standby, `potential` for its successor, or `async`.
        package let sync: String
        /// Bytes of the log that it has not replayed; nil before the first report of the standby.
        package let bytesBehind: Int64?
        /// Seconds that it needed for the last changes; nil if it has replayed everything and the server is quiet.
        package let secondsBehind: Double?

        /// Whether commits wait for it.
        package var isSynchronous: Bool { ["sync", "quorum"].contains(sync) }

        enum CodingKeys: String, CodingKey {
            case name, state, sync
            case bytesBehind = "bytes_behind"
            case secondsBehind = "seconds_behind"
        }
    }

    /// A sentence about the replication.
    package struct Remark: Sendable, Hashable {
        /// False for a choice of the operator that is worth knowing.
        package let isProblem: Bool
        package let text: String
    }

    /// False for a standby, which takes no writes.
    package let isPrimary: Bool
    /// The setting `synchronous_commit` of the role's sessions.
    package let synchronousCommit: String
    /// Whether `synchronous_standby_names` is set, so that commits wait for a standby.
    package let wantsStandby: Bool
    /// The role of the session, as a statement writes it.
    package let role: String
    package let standbys: [Standby]
    /// Standbys of which the role sees nothing but their existence.
    package let hidden: Int

    enum CodingKeys: String, CodingKey {
        case role, standbys, hidden
        case isPrimary = "primary"
        case synchronousCommit = "synchronous_commit"
        case wantsStandby = "wants_standby"
    }

    /// Asks the server; a session that only reads waits for no standby.
    package static func read(_ session: PostgreSQLSession) throws -> PostgreSQLReplication {
        // One round trip for both.
        let results = try session.run([PostgreSQLCommand(settings), PostgreSQLCommand(attached)])
        guard let row = results[0].first else { throw session.error(.lost, "the server sent no result") }
        let rows = try results[1].map { row -> Standby? in
            guard let state = try row.text(1) else { return nil }
            return Standby(
                name: TerminalText.visible(try row.text(0) ?? ""), state: state, sync: try row.text(2) ?? "async",
                bytesBehind: try row.integer(3), secondsBehind: try row.double(4))
        }
        let standbys = rows.compactMap(\.self)
        return PostgreSQLReplication(
            isPrimary: try row.flag(0) ?? true, synchronousCommit: try row.text(1) ?? "on",
            wantsStandby: try row.flag(2) ?? false, role: TerminalText.visible(try row.text(3) ?? ""),
            standbys: standbys, hidden: rows.count - standbys.count)
    }

    private static let settings = """
        SELECT NOT pg_is_in_recovery(), current_setting('synchronous_commit'),
            current_setting('synchronous_standby_names') <> '', quote_ident(current_user)
        """

    // A standby has no position of its own to compare with, so it shows none for those below it.
    private static let attached = """
        SELECT application_name, state, sync_state,
            CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint END,
            extract(epoch FROM replay_lag)::double precision
        FROM pg_stat_replication ORDER BY application_name, pid
        """

    /// Whether a commit is acknowledged only after a standby has it.
    package var isSynchronous: Bool {
        wantsStandby && !["off", "local"].contains(synchronousCommit) && standbys.contains(where: \.isSynchronous)
    }

    /// Attached standbys for which commits wait.
    package var synchronousStandbys: Int { standbys.count(where: \.isSynchronous) }

    /// Attached standbys for which no commit waits; those without a visible state are among them.
    package var otherStandbys: Int { standbys.count + hidden - synchronousStandbys }

    /// Bytes that the standby furthest behind has not replayed.
    package var bytesBehind: Int64? { standbys.compactMap(\.bytesBehind).max() }

    /// Seconds that the slowest standby needed for the last changes; 0 if all standbys are level.
    package var secondsBehind: Double? { standbys.isEmpty ? nil : standbys.compactMap(\.secondsBehind).max() ?? 0 }

    /// Role and standbys in one line: `primary, synchronous standby a (12 kB behind)`.
    package var summary: String {
        guard isPrimary else { return "standby" }
        let named = standbys.map { standby in
            let kind =
                standby.isSynchronous ? "synchronous" : standby.sync == "potential" ? "potential" : "asynchronous"
            let state = standby.state == "streaming" ? "" : ", \(standby.state)"
            return "\(kind) standby \(standby.name) (\(Self.lag(standby))\(state))"
        }
        let hidden = hidden > 0 ? ["\(hidden) of unknown state"] : []
        let all = named + hidden
        return "primary, " + (all.isEmpty ? "no standby" : all.joined(separator: ", "))
    }

    private static func lag(_ standby: Standby) -> String {
        guard let bytes = standby.bytesBehind else { return "lag unknown" }
        let seconds = standby.secondsBehind.map { $0 >= 1 ? ", \(Int($0.rounded())) s" : "" } ?? ""
        guard bytes > 0 else { return "level" }
        return (bytes < 10_000 ? "\(bytes) B" : bytes < 10_000_000 ? "\(bytes / 1_000) kB" : "\(bytes / 1_000_000) MB")
            + seconds + " behind"
    }

    /// Seconds above which a standby is too far behind to fail over to.
    static let mostSecondsBehind = 30.0

    /// Sentences for an operator, with remedies.
    package var remarks: [Remark] {
        guard isPrimary else {
            return [
                Remark(
                    isProblem: true,
                    text: "the server is a standby and takes no writes; promote it or start the primary, and name all "
                        + "servers in the address")
            ]
        }
        var remarks: [Remark] = []
        if hidden > 0 {
            remarks.append(
                Remark(
                    isProblem: false,
                    text:
                        "the role \(role) may not see the state of \(hidden == 1 ? "a standby" : "\(hidden) standbys"); "
                        + "GRANT pg_monitor TO \(role) shows it"))
        }
        if ["off", "local"].contains(synchronousCommit) {
            remarks.append(
                Remark(
                    isProblem: false,
                    text: "synchronous_commit is \(synchronousCommit), so a crash can lose acknowledged changes; "
                        + "ALTER ROLE \(role) SET synchronous_commit = on keeps them"))
        }
        if let remark = standbyRemark { remarks.append(remark) }
        if let seconds = secondsBehind, seconds > Self.mostSecondsBehind {
            remarks.append(
                Remark(
                    isProblem: true,
                    text: "a standby is \(Int(seconds)) s behind; see its disk, its network and long queries on it"))
        }
        return remarks
    }

    private var standbyRemark: Remark? {
        let hasSynchronous = standbys.contains(where: \.isSynchronous)
        if wantsStandby, !hasSynchronous, hidden == 0 {
            return Remark(
                isProblem: true,
                text: "no synchronous standby is attached, and commits wait for one; start the standby, or empty "
                    + "synchronous_standby_names")
        }
        guard !wantsStandby, !standbys.isEmpty else { return nil }
        return Remark(
            isProblem: false,
            text:
                "no standby is synchronous, so a failover can lose the last changes; set synchronous_standby_names to "
                + "keep them")
    }

    /// The texts of all problems.
    package var problems: [String] { remarks.filter(\.isProblem).map(\.text) }
}
