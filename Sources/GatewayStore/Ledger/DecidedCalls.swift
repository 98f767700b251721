// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
import GRDB

/// The part of a call's row that concerns its decision: some columns, for readers of millions of calls.
///
/// Texts come from the wire: escape them before they reach a terminal.
package struct DecidedCall: Sendable {
    package let row: Int64
    package let callID: String
    /// Microseconds since 1970.
    package let inviteAt: Int64
    package let trunk: String?
    package let customer: String?
    /// Nil when withheld or unclear.
    package let caller: E164Number?
    package let destination: E164Number?
    package let brandID: String?
    package let brandName: String?
    package let carrierName: String?
    /// `matched`, or the text of a `PassThroughReason`.
    package let decision: String
    package let evidence: DecisionEvidence?
    /// The facts of the verdict on signed header fields, without causes and code.
    package let trust: TrustEvidence?
    /// Whether several called numbers rang under its Call-ID.
    package let rangSeveral: Bool

    /// Nil for a branded call.
    package var reason: PassThroughReason? { CallRecord.reason(ofDecision: decision) }

    fileprivate static let columns = """
        id, call_id, invite_at, trunk, customer, caller, destination, brand_id, brand_name, carrier_name, decision, \
        evidence, trust, also_called IS NOT NULL
        """

    /// By position: names would be searched in each row.
    fileprivate init(_ row: Row) {
        (self.row, callID, inviteAt) = (row[0], row[1], row[2])
        (trunk, customer) = (row[3], row[4])
        (caller, destination) = (LedgerCallRow.number(row[5]), LedgerCallRow.number(row[6]))
        (brandID, brandName, carrierName) = (row[7], row[8], row[9])
        decision = row[10]
        evidence = DecisionEvidence(stored: row[11])
        trust = TrustEvidence(stored: row[12])
        rangSeveral = row[13]
    }
}

/// Rows of a damaged ledger that cannot be read.
package struct LostRows: Hashable, Sendable {
    package let rows: ClosedRange<Int64>
    package let reason: String

    package init(rows: ClosedRange<Int64>, reason: String) { (self.rows, self.reason) = (rows, reason) }
}

extension LedgerReader {
    /// Reads the inbound calls that pass the filter once, the newest first, with 20,000 of them in memory.
    ///
    /// Each piece is a transaction of its own that has ended before `body` gets its calls. So a slow reader of the results keeps
    /// no checkpoint of a running gateway waiting. Damaged pages cost the rest of their piece.
    ///
    /// - Parameter path: the file, for errors.
    /// - Returns: the rows that could not be read.
    /// - Throws: an error of `body`; `HeraldDatabaseError` for one of the database that is no damage of some rows.
    package func forEachDecided(
        matching filter: CallFilter, of path: String, _ body: (DecidedCall) throws -> Void
    ) throws -> [LostRows] {
        var lost: [LostRows] = []
        var rest = filter
        while let piece = try nextDecided(rest, of: path) {
            for call in piece.calls { try body(call) }
            if let rows = piece.lost { lost.append(rows) }
            rest.before = piece.first
        }
        return lost
    }

    /// The calls of one piece, from its first row on.
    private struct DecidedPiece {
        let first: Int64
        var calls: [DecidedCall] = []
        var lost: LostRows?
    }

    /// The newest piece with calls or damage; nil for none.
    private func nextDecided(_ filter: CallFilter, of path: String) throws(HeraldDatabaseError) -> DecidedPiece? {
        var found: DecidedPiece?
        do {
            _ = try read(filter, nil) { database, piece in
                var decided = DecidedPiece(first: piece.rows.lowerBound)
                do {
                    try Self.decided(in: piece, database) { decided.calls.append($0) }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                    let last = (decided.calls.last?.row).map { $0 - 1 } ?? piece.rows.upperBound
                    decided.lost = LostRows(
                        rows: min(decided.first, last)...last, reason: error.message ?? "\(error.resultCode)")
                }
                if decided.calls.isEmpty, decided.lost == nil { return .isEmpty }
                found = decided
                return .isEnough
            }
        } catch {
            // A damaged page also spoils the end of the transaction that read it.
            if let found, found.lost != nil { return found }
            throw HeraldDatabaseError(reading: error, path: path)
        }
        return found
    }

    private static func decided(
        in piece: Piece, _ database: Database, _ body: (DecidedCall) -> Void
    ) throws {
        let sql = """
            SELECT \(DecidedCall.columns) FROM \(CallColumn.source)
            WHERE direction = 1 AND \(piece.condition) ORDER BY id DESC
            """
        let rows = try Row.fetchCursor(database, sql: sql, arguments: piece.arguments)
        while let row = try rows.next() { body(DecidedCall(row)) }
    }
}
