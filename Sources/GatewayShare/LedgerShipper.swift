// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import HostSystem
package import PostgreSQL

/// Sends the changes of this gateway's ledger to the shared ledger in PostgreSQL.
///
/// Changes and the position after them are one transaction and one round trip, so each change arrives exactly once,
/// whatever fails between. Nothing waits for it: without PostgreSQL, changes stay in the gateway's own ledger. One
/// thread, which blocks on the disk and the network.
package final class LedgerShipper {
    /// A name that another gateway uses.
    package struct NameInUse: Error, CustomStringConvertible {
        let name: String
        let server: String

        package var description: String {
            """
            another gateway writes to the shared ledger at \(server) under the name \(name); \
            give each gateway its own gateway.id
            """
        }
    }

    /// The result of one round.
    package struct Round: Hashable, Sendable {
        package var rows = 0
        /// True if another node had fenced this one, and it has registered again.
        package var wasFenced = false
        /// True if no change is left.
        package var isCaughtUp = false
    }

    /// Changes in one transaction: some two seconds of 1,000 calls/s.
    static let mostAtOnce = 5_000
    /// Rounds between two deletions of shipped changes, which cost a commit of the ledger.
    private static let roundsKept = 10

    /// Seconds after which a signal serves no call any more.
    static let signalAge: Int64 = 12 * 3_600

    let session: PostgreSQLSession
    private let source: any SharedChangeSource
    private let name: String
    private let version: String
    private let schema: [String]
    private let address: String?
    private let wall: @Sendable () -> Int64
    /// Nil before the registration, and after another gateway has fenced this one.
    private(set) var membership: ShippingStatements.Membership?
    /// The position up to which the shared ledger has the changes.
    package private(set) var position: Int64 = 0
    private var forgotten: Int64 = 0
    private var rounds = 0

    /// - Parameters:
    ///   - name: the name of this gateway, unique among all that share the ledger.
    ///   - version: the gateway's version, for reports.
    ///   - address: its `cluster.listen`, by which siblings know it; nil for a gateway that none adopts.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    package convenience init(
        _ session: PostgreSQLSession, _ source: any SharedChangeSource, name: String, version: String,
        address: String? = nil, wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall
    ) {
        self.init(
            session, source, name: name, version: version, address: address, wall: wall, schema: SharedSchema.steps)
    }

    /// - Parameter schema: the steps of the schema that a version of this program knows.
    init(
        _ session: PostgreSQLSession, _ source: any SharedChangeSource, name: String, version: String,
        address: String? = nil, wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall, schema: [String]
    ) {
        (self.session, self.source, self.name, self.version, self.address) = (session, source, name, version, address)
        (self.wall, self.schema) = (wall, schema)
    }

    /// Ships changes until none is left or `isStopping` returns true; reports after each transaction.
    ///
    /// - Throws: an error of the database or of the ledger. Changes that were not shipped stay.
    package func ship(isStopping: () -> Bool = { false }) throws -> Round {
        var round = Round()
        var hasBeaten = false
        while !isStopping() {
            let membership = try registered()
            let changes = try source.changes(after: position, limit: Self.mostAtOnce)
            guard changes.ledger == membership.ledger else {
                // The ledger's file was replaced. Its rows have other numbers.
                self.membership = nil
                continue
            }
            guard !changes.rows.isEmpty || changes.through > position || !hasBeaten else {
                round.isCaughtUp = true
                break
            }
            do throws(PostgreSQLError) {
                // A new connection takes time, which is no part of a fact's age.
                try session.connect()
                let results = try session.atomically(ShippingStatements.ship(changes, membership, now: wall()))
                // The row of the node was deleted. The changes go to the one that the next registration makes.
                guard results.first?.affected == 1 else {
                    self.membership = nil
                    continue
                }
                hasBeaten = true
            } catch {
                guard error.constraint == "fenced", !round.wasFenced else { throw error }
                round.wasFenced = true
                self.membership = nil
                continue
            }
            position = changes.through
            round.rows += changes.rows.reduce(0) { $0 + $1.count }
            round.isCaughtUp = changes.isLast
            if changes.isLast { break }
        }
        try forgetShipped()
        return round
    }

    /// Deletes rows of this gateway that are older than its retention, and expired facts of all gateways.
    ///
    /// - Parameters:
    ///   - before: seconds since 1970.
    ///   - window: longest time between a call and its call back, in seconds.
    package func prune(before: Int64, returnsAfter window: Int64, isStopping: () -> Bool = { false }) throws {
        let membership = try registered()
        let returnAge = max(window + 86_400, wall() / 1_000_000 - before)
        for command in [
            ShippingStatements.forgetCalls(membership, before: before * 1_000_000),
            ShippingStatements.forgetEvents(membership, before: before),
            OwnerStatements.forget(before: before * 1_000_000),
            OwnerStatements.forgetTaken(membership, before: before),
            ShippingStatements.forget(SharedTable.signal.name, olderThan: Self.signalAge),
            ShippingStatements.forget(SharedTable.returnCandidate.name, olderThan: window + 86_400),
            ShippingStatements.forget("returned", olderThan: returnAge),
        ] {
            while !isStopping(), try session.atomically([command]).first?.affected ?? 0 > 0 {}
        }
    }

    /// The longest wait for the server during one statement.
    package var timeLimit: Duration {
        get { session.timeLimit }
        set { session.timeLimit = newValue }
    }

    /// The role and the standbys of the server.
    package func replication() throws -> PostgreSQLReplication { try PostgreSQLReplication.read(session) }

    /// Number of changes that wait.
    package func waiting() throws -> Int { try source.waiting(after: position) }

    /// Closes the connection; changes of the last rounds are forgotten.
    package func finish() {
        rounds = Self.roundsKept
        try? forgetShipped()
        session.close()
    }

    /// The membership, after a registration if there is none.
    func registered() throws -> ShippingStatements.Membership {
        if let membership { return membership }
        try SharedSchema.migrate(session, steps: schema)
        let ledger = try source.ledger()
        let rows = try session.atomically([
            ShippingStatements.register(name: name, ledger: ledger, version: version, address: address)
        ])
        guard let row = rows.first?.first, let node = try row.integer(0), let epoch = try row.integer(1) else {
            throw NameInUse(name: name, server: session.address.description)
        }
        let membership = ShippingStatements.Membership(node: node, epoch: epoch, ledger: ledger)
        let known = try session.atomically([ShippingStatements.position(membership)])
        position = try known.first?.first?.integer(0) ?? 0
        forgotten = 0
        self.membership = membership
        return membership
    }

    private func forgetShipped() throws {
        rounds += 1
        guard rounds >= Self.roundsKept, position > forgotten else { return }
        rounds = 0
        try source.forget(through: position)
        forgotten = position
    }
}
