// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import PostgreSQL

/// The statements of one shipping transaction.
enum ShippingStatements {
    /// A gateway's membership in the shared ledger.
    struct Membership: Hashable {
        let node: Int64
        let epoch: Int64
        let ledger: Int64
    }

    /// Seconds without a sign of life after which another gateway may take a node's name.
    static let lease = 15

    /// Registers a name; no row if another gateway uses it.
    ///
    /// Another ledger file under the name raises the epoch, which fences the gateway that had the name.
    /// A gateway that registers is alive, so nobody goes on adopting its calls.
    ///
    /// - Parameters:
    ///   - formerLedger: the number that this very file had before: its name is free at once.
    ///   - address: its `cluster.listen`, by which siblings know it.
    static func register(
        name: String, ledger: Int64, formerLedger: Int64? = nil, version: String, address: String?
    ) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            INSERT INTO ledger.node AS node (name, ledger, version, address) VALUES ($1, $2, $3, $4)
            ON CONFLICT (name) DO UPDATE
                SET ledger = excluded.ledger, version = excluded.version, seen_at = now(),
                    address = excluded.address, adopter = NULL, adopted_at = NULL,
                    epoch = node.epoch + (node.ledger <> excluded.ledger)::integer,
                    claimed_epoch = node.epoch + (node.ledger <> excluded.ledger)::integer
                WHERE node.ledger = excluded.ledger OR node.ledger = $5::bigint
                    OR node.seen_at < now() - interval '\(lease) seconds'
            RETURNING id, epoch
            """, [.text(name), .integer(ledger), .text(version), .text(address), .integer(formerLedger)])
    }

    /// The position that the shared ledger has of the changes of a ledger file.
    static func position(name: String, ledger: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT position.sequence FROM ledger.position JOIN ledger.node ON node.id = position.node
            WHERE node.name = $1 AND position.ledger = $2
            """, [.text(name), .integer(ledger)])
    }

    /// A sign of life; the constraint `fenced` refuses a node whose epoch has passed.
    static func beat(_ membership: Membership) -> PostgreSQLCommand {
        PostgreSQLCommand(
            "UPDATE ledger.node SET seen_at = now(), claimed_epoch = $2 WHERE id = $1",
            [.integer(membership.node), .integer(membership.epoch)])
    }

    /// A sign of life with the gateway's clock, by which others compare times of its calls with their own.
    ///
    /// It returns the server's time. The offset stays while it is right within 50 ms, so that all gateways see one order of
    /// two calls.
    ///
    /// - Parameters:
    ///   - isComplete: whether the shared ledger has all that the gateway has seen, once this is committed.
    ///   - ahead: the server's clock less that of the gateway, in microseconds.
    private static func beat(_ membership: Membership, isComplete: Bool, ahead: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            UPDATE ledger.node SET seen_at = now(), claimed_epoch = $2,
                clock_offset = CASE WHEN abs($3::bigint - clock_offset) < 50000 THEN clock_offset ELSE $3::bigint END,
                known_at = CASE WHEN $4::bigint = 1 THEN now() ELSE known_at END
            WHERE id = $1 RETURNING \(SharedClock.serverTime)
            """,
            [
                .integer(membership.node), .integer(membership.epoch), .integer(-ahead), .integer(isComplete ? 1 : 0),
            ])
    }

    /// Changes with the position after them; all of it is one transaction.
    ///
    /// The second statement changes no row if the server lacks earlier changes: a repetition after a lost connection may
    /// reach another server, after a failover.
    ///
    /// - Parameters:
    ///   - before: the position before these changes.
    ///   - again: ended calls of the transaction before, whose rows at other gateways were perhaps not committed then.
    ///   - isStoring: whether the gateway's own ledger takes what the gateway sees.
    ///   - ahead: the server's clock less that of the gateway, in microseconds.
    static func ship(
        _ changes: SharedChanges, after before: Int64, _ membership: Membership, again: ShippedCalls = ShippedCalls(),
        isStoring: Bool = true, ahead: Int64
    ) -> [PostgreSQLCommand] {
        let position = PostgreSQLCommand(
            """
            INSERT INTO ledger.position AS position (node, ledger, sequence)
            SELECT $1::integer, $2::bigint, $3::bigint WHERE $4::bigint = 0 OR EXISTS (
                SELECT 1 FROM ledger.position AS known WHERE known.node = $1::integer AND known.ledger = $2::bigint)
            ON CONFLICT (node, ledger) DO UPDATE SET sequence = greatest(position.sequence, excluded.sequence)
                WHERE position.sequence >= $4::bigint
            """,
            [
                .integer(membership.node), .integer(membership.ledger), .integer(changes.through), .integer(before),
            ])
        let beat = beat(membership, isComplete: isStoring && changes.isLast, ahead: ahead)
        return [beat, position] + changes.rows.map { store($0, membership, ahead: ahead) }
            + OwnerStatements.follow(ShippedCalls(in: changes) + again, membership)
            + TakenEventStatements.settle(changes, membership)
    }

    private static func store(_ rows: SharedRows, _ membership: Membership, ahead: Int64) -> PostgreSQLCommand {
        var values = rows.columns.map { column -> PostgreSQLValue in
            switch column {
            case .integers(let numbers): .integers(numbers)
            case .texts(let texts): .texts(texts)
            case .bytes(let bytes): .byteStrings(bytes)
            }
        }
        if rows.table.isAppendOnly { values.append(.integer(ahead)) }
        let ends: [PostgreSQLValue] = [.integer(membership.node), .integer(membership.ledger)]
        return PostgreSQLCommand(stores[rows.table] ?? "", ends + values)
    }

    private static let stores = Dictionary(
        uniqueKeysWithValues: SharedTable.allCases.map { ($0, $0.isAppendOnly ? append($0) : store($0)) })

    /// Inserts rows, or updates the known ones.
    private static func store(_ table: SharedTable) -> String {
        let names = table.columns.map(\.name)
        let updates = names.dropFirst().map { "\($0) = excluded.\($0)" }
        return """
            INSERT INTO ledger.\(table.name) (node, ledger, \(names.joined(separator: ", ")))
            SELECT $1::integer, $2::bigint, * FROM unnest(\(arrays(table)))
            ON CONFLICT (node, ledger, id) DO UPDATE SET \(updates.joined(separator: ", "))
            """
    }

    /// Inserts facts; their time moves to the clock of the server, which is the same for all gateways.
    private static func append(_ table: SharedTable) -> String {
        let names = table.columns.map(\.name).joined(separator: ", ")
        let values = table.columns.map { $0.name == "at" ? "at + $\(table.columns.count + 3)::bigint" : $0.name }
        return """
            INSERT INTO ledger.\(table.name) (node, ledger, \(names))
            SELECT $1::integer, $2::bigint, \(values.joined(separator: ", ")) FROM unnest(\(arrays(table))) AS fact (\(names))
            ON CONFLICT (node, ledger, id) DO NOTHING
            """
    }

    private static func arrays(_ table: SharedTable) -> String {
        table.columns.enumerated().map { place, column in "$\(place + 3)::\(column.sqlType)[]" }
            .joined(separator: ", ")
    }

    /// The clock of the server at the begin of the transaction, in microseconds since 1970.
    static let serverNow = "(extract(epoch FROM now()) * 1000000)::bigint"
    /// Gateways that delete their old rows themselves; every other one is gone, adopted, or this one.
    private static let others = """
        ARRAY(SELECT id FROM ledger.node WHERE id <> $1 AND seen_at > now() - interval '1 day'
            AND (adopter IS DISTINCT FROM $1 OR adopted_at IS NULL))
        """

    /// Deletes some calls that began before a time, in microseconds since 1970, and that have ended here.
    ///
    /// Calls of a gateway that is gone, or of an earlier ledger file, have ended at their adopter or will never end.
    static func forgetCalls(_ membership: Membership, before: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            DELETE FROM ledger.call WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.call
                WHERE invite_at < $3 AND node <> ALL (\(others))
                    AND (ended_at IS NOT NULL OR node <> $1 OR ledger <> $2) LIMIT 2000))
            """, [.integer(membership.node), .integer(membership.ledger), .integer(before)])
    }

    /// Deletes some events that were made before a time, in seconds since 1970, and that were delivered by this gateway.
    ///
    /// Waiting events of an adopted gateway are those of the adopter. A gateway that comes back has its own in its ledger.
    static func forgetEvents(_ membership: Membership, before: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            DELETE FROM ledger.event WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.event
                WHERE created_at < $3 AND node <> ALL (\(others))
                    AND (state = 1 OR node <> $1 OR ledger <> $2) LIMIT 2000))
            """, [.integer(membership.node), .integer(membership.ledger), .integer(before)])
    }

    /// Deletes some facts of all gateways, older than a number of seconds.
    static func forget(_ table: String, olderThan seconds: Int64) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            DELETE FROM ledger.\(table) WHERE ctid = ANY (ARRAY(SELECT ctid FROM ledger.\(table)
                WHERE at < \(serverNow) - $1::bigint * 1000000 LIMIT 2000))
            """, [.integer(seconds)])
    }
}
