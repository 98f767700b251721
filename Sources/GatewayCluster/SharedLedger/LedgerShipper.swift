// SPDX-License-Identifier: Apache-2.0

package import GatewayStore
import Host
package import Logging
package import PostgreSQL

/// Sends the changes of this gateway's ledger to the shared ledger in PostgreSQL.
///
/// Changes and the position after them are one transaction and one round trip, so each change arrives exactly once,
/// whatever fails between. Nothing waits for it: without PostgreSQL, changes stay in the gateway's own ledger. One
/// thread, which blocks on the disk and the network.
package final class LedgerShipper {
    /// A name under which another ledger file is written.
    package struct NameInUse: Error, CustomStringConvertible {
        let name: String
        let server: String

        package var description: String {
            """
            another ledger file was written to the shared ledger at \(server) under the name \(name) less than \
            \(ShippingStatements.lease) s ago; if this gateway has a new disk, it goes on by itself after that time; \
            if another gateway has this name, give each its own gateway.id
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
    /// Time for which shipped changes are kept: a failover to a standby that is behind takes them back.
    package static let kept = Duration.seconds(600)

    /// Seconds after which a signal serves no call any more.
    static let signalAge: Int64 = 12 * 3_600

    let session: PostgreSQLSession
    private let source: any SharedChangeSource
    private let name: String
    private let version: String
    private let schema: [String]
    private let address: String?
    private let wall: @Sendable () -> Int64
    private let kept: Duration
    private let isStoring: () -> Bool
    private let log: Logger
    private let clock = SharedClock()
    /// Nil before the registration, and after another gateway has fenced this one.
    private(set) var membership: ShippingStatements.Membership?
    /// The ledger file of the membership.
    private var origin: SharedOrigin?
    /// The number that the file had before it turned out to be an older copy.
    private var formerLedger: Int64?
    /// The position up to which the shared ledger has the changes.
    package private(set) var position: Int64 = 0
    /// The connection that has shown this position, by its number.
    private var connection = 0
    /// Ended calls of the last transaction, which another gateway may have shipped at the same moment.
    private var lastEnded = ShippedCalls()
    /// Positions with their times by the monotonic clock, in microseconds, whose changes are still kept.
    private var keptPositions: [(position: Int64, at: Int64)] = []
    private var forgotten: Int64 = 0
    private var rounds = 0
    /// Deletions of old rows that have not come to their end.
    private var deletions: [PostgreSQLCommand] = []

    /// - Parameters:
    ///   - name: the name of this gateway, unique among all that share the ledger.
    ///   - version: the gateway's version, for reports.
    ///   - address: its `cluster.listen`, by which siblings know it; nil for a gateway that none adopts.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    ///   - isStoring: whether the gateway's own ledger takes what the gateway sees; else updates wait before it.
    package convenience init(
        _ session: PostgreSQLSession, _ source: any SharedChangeSource, name: String, version: String,
        address: String? = nil, wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall,
        isStoring: @escaping () -> Bool = { true }, log: Logger = Logger(label: "herald.shared")
    ) {
        self.init(
            session, source, name: name, version: version, address: address, wall: wall, isStoring: isStoring,
            log: log, schema: SharedSchema.steps)
    }

    /// - Parameters:
    ///   - kept: time for which shipped changes are kept.
    ///   - schema: the steps of the schema that a version of this program knows.
    init(
        _ session: PostgreSQLSession, _ source: any SharedChangeSource, name: String, version: String,
        address: String? = nil, wall: @escaping @Sendable () -> Int64 = ClockStepDetector.wall,
        isStoring: @escaping () -> Bool = { true }, kept: Duration = LedgerShipper.kept,
        log: Logger = Logger(label: "herald.shared"), schema: [String] = SharedSchema.steps
    ) {
        (self.session, self.source, self.name, self.version, self.address) = (session, source, name, version, address)
        (self.wall, self.kept, self.log, self.schema) = (wall, kept, log, schema)
        self.isStoring = isStoring
    }

    /// Ships changes until none is left or `isStopping` returns true; reports after each transaction.
    ///
    /// - Throws: an error of the database or of the ledger. Changes that were not shipped stay.
    package func ship(isStopping: () -> Bool = { false }) throws -> Round {
        var round = Round()
        var hasBeaten = false
        while !isStopping() {
            let membership = try registered()
            // A new connection takes time, which is no part of a fact's age.
            try session.connect()
            guard try hasPosition(of: membership) else { continue }
            // Before the changes are read: what is stored later goes with the next transaction.
            let isStoring = isStoring()
            let changes = try source.changes(after: position, limit: Self.mostAtOnce)
            guard changes.origin == origin else {
                // The ledger's file was replaced. Its rows have other numbers, or those of an older copy.
                self.membership = nil
                continue
            }
            let ended = ShippedCalls(endedIn: changes)
            guard !changes.rows.isEmpty || changes.through > position || !hasBeaten else {
                round.isCaughtUp = true
                break
            }
            do throws(PostgreSQLError) {
                let ahead = try serverNow() - wall()
                let began = clock.begin
                let results = try session.atomically(
                    ShippingStatements.ship(
                        changes, after: position, membership, again: lastEnded, isStoring: isStoring, ahead: ahead))
                clock.measure(try? results.first?.first?.integer(0), sent: began)
                // The row of the node was deleted. The changes go to the one that the next registration makes.
                guard results.first?.affected == 1 else {
                    self.membership = nil
                    continue
                }
                hasBeaten = true
                // The repetition of a lost transaction has reached a server that lacks earlier changes.
                guard results.count > 1, results[1].affected == 1 else {
                    connection = 0
                    continue
                }
            } catch {
                guard error.constraint == "fenced", !round.wasFenced else { throw error }
                round.wasFenced = true
                self.membership = nil
                continue
            }
            position = changes.through
            lastEnded = ended
            round.rows += changes.rows.reduce(0) { $0 + $1.count }
            round.isCaughtUp = changes.isLast
            if changes.isLast { break }
        }
        try forgetShipped()
        return round
    }

    /// Deletes rows of this gateway that are older than its retention, those of gateways that are gone, and expired facts
    /// of all gateways.
    ///
    /// - Parameters:
    ///   - before: seconds since 1970.
    ///   - window: longest time between a call and its call back, in seconds.
    ///   - mayGoOn: asked after each of the short transactions.
    /// - Returns: false if it ended before the last one; the next call goes on from there.
    @discardableResult
    package func prune(before: Int64, returnsAfter window: Int64, while mayGoOn: () -> Bool = { true }) throws -> Bool {
        let membership = try registered()
        let returnAge = max(window + 86_400, wall() / 1_000_000 - before)
        if deletions.isEmpty {
            deletions = [
                ShippingStatements.forgetCalls(membership, before: before * 1_000_000),
                ShippingStatements.forgetEvents(membership, before: before),
                OwnerStatements.forget(before: before * 1_000_000),
                OwnerStatements.forgetTaken(before: before),
                ShippingStatements.forget(SharedTable.signal.name, olderThan: Self.signalAge),
                ShippingStatements.forget(SharedTable.returnCandidate.name, olderThan: window + 86_400),
                ShippingStatements.forget("returned", olderThan: returnAge),
            ]
        }
        while let command = deletions.first {
            if try session.atomically([command]).first?.affected ?? 0 == 0 { deletions.removeFirst() }
            if !mayGoOn() { break }
        }
        return deletions.isEmpty
    }

    /// The clock of the server, in seconds since 1970.
    package func serverTime() throws -> Int64 {
        try session.execute("SELECT \(ShippingStatements.serverNow) / 1000000").first?.integer(0) ?? 0
    }

    /// The longest wait for the server during one statement.
    package var timeLimit: Duration {
        get { session.timeLimit }
        set { session.timeLimit = newValue }
    }

    /// The role and the standbys of the server.
    package func replication() throws -> PostgreSQLReplication { try PostgreSQLReplication.read(session) }

    /// PostgreSQL's clock, in microseconds since 1970; a statement that waits at the server changes nothing about it.
    func serverNow() throws(PostgreSQLError) -> Int64 { try clock.now(session) }

    /// Number of changes that wait.
    package func waiting() throws -> Int { try source.waiting(after: position) }

    /// Closes the connection; changes that were kept for their time are forgotten.
    package func finish() {
        rounds = Self.roundsKept
        try? forgetShipped()
        session.close()
    }

    /// The membership, after a registration if there is none.
    func registered() throws -> ShippingStatements.Membership {
        if let membership { return membership }
        try SharedSchema.migrate(session, steps: schema)
        try leaveOtherCopy()
        let origin = try source.origin()
        let rows = try session.atomically([
            ShippingStatements.register(
                name: name, ledger: origin.ledger, formerLedger: formerLedger, version: version, address: address)
        ])
        guard let row = rows.first?.first, let node = try row.integer(0), let epoch = try row.integer(1) else {
            throw NameInUse(name: name, server: session.address.description)
        }
        let membership = ShippingStatements.Membership(node: node, epoch: epoch, ledger: origin.ledger)
        position = try position(under: origin.ledger) ?? 0
        connection = session.connections
        try source.confirm(origin)
        (forgotten, keptPositions, lastEnded, deletions) = (0, [], ShippedCalls(), [])
        (self.membership, self.origin) = (membership, origin)
        return membership
    }

    /// Gives the ledger's file a new number if it is an older copy of the one that shipped last.
    ///
    /// Its next changes would have numbers that the shared ledger already has, and its next rows those of other calls.
    private func leaveOtherCopy() throws {
        let origin = try source.origin()
        let (there, here) = (try position(under: origin.ledger) ?? 0, try source.lastKnown())
        guard there > here else { return }
        log.warning(
            """
            the ledger's file is an older copy: the shared ledger has later changes of it; it goes on under a new number, \
            and calls after the copy stay in the shared ledger
            """, metadata: ["changes": "\(here)", "shared": "\(there)"])
        try source.beginAnew(after: position)
        formerLedger = origin.ledger
    }

    /// The last change that the shared ledger has of a ledger file under this gateway's name; nil for none.
    private func position(under ledger: Int64) throws -> Int64? {
        try session.atomically([ShippingStatements.position(name: name, ledger: ledger)]).first?.first?.integer(0)
    }

    /// Follows the position of the server after a new connection; false if the gateway has to register again.
    ///
    /// After a failover the server may lack the last transactions. After a lost response it may have one more.
    private func hasPosition(of membership: ShippingStatements.Membership) throws -> Bool {
        guard session.connections != connection else { return true }
        let there = try position(under: membership.ledger) ?? 0
        guard there <= (try source.lastKnown()) else {
            self.membership = nil
            return false
        }
        connection = session.connections
        if there < position {
            log.warning(
                """
                the server of the shared ledger lacks changes that it had: a failover has taken them back; \
                they are sent again
                """,
                metadata: ["changes": "\(position - there)", "forgotten": "\(max(0, forgotten - there))"])
        }
        position = there
        return true
    }

    /// Deletes changes that were shipped some time ago.
    private func forgetShipped() throws {
        rounds += 1
        guard rounds >= Self.roundsKept, position > forgotten else { return }
        rounds = 0
        let now = SteadyClock.microseconds
        keptPositions.append((position, now))
        guard let old = keptPositions.last(where: { .microseconds(now - $0.at) >= kept }) else { return }
        keptPositions.removeAll { $0.at <= old.at }
        guard old.position > forgotten else { return }
        try source.forget(through: min(old.position, position))
        forgotten = min(old.position, position)
    }
}
