// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GRDB
import Synchronization

/// Calls of one day with numbers of a brand that arrived in the same way; it has no callee.
package struct BrandArrivals: Hashable, Sendable {
    /// A brand with its customer.
    package struct Owner: Hashable, Sendable {
        package var brand: String
        package var brandID: String?
        /// Nil for a usual brand.
        package var customer: String?

        package init(brand: String, brandID: String?, customer: String?) {
            (self.brand, self.brandID, self.customer) = (brand, brandID, customer)
        }
    }

    /// The way in which calls arrived.
    package struct Way: Hashable, Sendable {
        /// Nil for a trunk that the configuration did not have.
        package var trunk: String?
        /// Trust, verification and its source; nothing else is set.
        package var evidence: DecisionEvidence
        /// Whether the signature failed, also one that takes no part in the decision.
        package var isSignatureFailed: Bool
        /// The provider that signed; foreign text. Nil for none.
        package var provider: String?
        /// Whether the directory's brand was written.
        package var isBranded: Bool

        package init(
            trunk: String?, evidence: DecisionEvidence, isSignatureFailed: Bool = false, provider: String? = nil,
            isBranded: Bool
        ) {
            (self.trunk, self.evidence, self.isSignatureFailed) = (trunk, evidence, isSignatureFailed)
            (self.provider, self.isBranded) = (provider, isBranded)
        }
    }

    package var owner: Owner
    /// Days since 1970, in UTC.
    package var day: Int64
    package var way: Way
    package var calls: Int
    /// Microseconds since 1970.
    package var firstAt: Int64
    package var lastAt: Int64
    /// Some of the brand's numbers in these calls, with a plus sign; none for days without details.
    package var callers: [String] = []
    /// Call ids of some of the calls; none for days without details.
    package var examples: [String] = []

    package init(owner: Owner, day: Int64, way: Way, calls: Int, firstAt: Int64, lastAt: Int64) {
        (self.owner, self.day, self.way, self.calls) = (owner, day, way, calls)
        (self.firstAt, self.lastAt) = (firstAt, lastAt)
    }
}

/// Reads the arrivals of all numbers that had a brand of the directory in a span of time.
///
/// Reads the calls of the span by their rows, twice, in pieces. Each piece is a transaction of its own, so no checkpoint of the
/// recorder waits for a long reading. A withheld caller is in none. A call that another gateway goes on with is left out.
/// Memory grows with brands, days and ways of arrival, and not with calls. Safe from any thread.
package final class ArrivalsReading: Sendable {
    /// Callers and call ids that are kept of each arrival.
    package static let mostListed = 5
    private static let microsecondsOfDay: Int64 = 86_400_000_000
    // Bits of `DecisionEvidence`: present, verification, source of it, trust.
    private static let findings = 1 | 7 << 4 | 15 << 7 | 1 << 18

    private struct Key: Hashable {
        let owner: Int
        let day: Int64
        let way: BrandArrivals.Way
    }

    private struct State {
        var filter = CallFilter()
        /// Nil before the second pass has begun.
        var sums: [Key: BrandArrivals]?
        var owners: [BrandArrivals.Owner] = []
        var places: [BrandArrivals.Owner: Int] = [:]
        /// The place of a caller's brand, that of its latest branded call.
        var ownerOfCaller: [Int64: Int] = [:]
        var firstDays: [String: Int64] = [:]
    }

    private let since: Int64
    private let firstDetailed: Int64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - since: Unix seconds.
    ///   - firstDetailed: the first day whose arrivals have callers and call ids, in days since 1970.
    package init(since: Int64, firstDetailed: Int64) {
        (self.since, self.firstDetailed) = (since, firstDetailed)
        var begin = State()
        begin.filter.since = since
        state = Mutex(begin)
    }

    /// Reads the next piece.
    ///
    /// - Returns: false if nothing is left.
    /// - Throws: an error of the ledger. The same piece can be read again.
    package func next(_ reader: LedgerReader) throws -> Bool {
        try state.withLock { state in
            let filter = state.filter
            var piece: Piece = .init()
            let rest: CallSearch.Rest?
            if state.sums == nil {
                rest = try reader.read(filter, .zero) { try piece.readOwners($0, $1) }
            } else {
                let owners = state.ownerOfCaller
                rest = try reader.read(filter, .zero) { try piece.readArrivals($0, $1, owners) }
            }
            take(piece, &state)
            if let rest {
                state.filter.before = rest.before
                return true
            }
            guard state.sums == nil else { return false }
            (state.sums, state.filter.before) = ([:], nil)
            return true
        }
    }

    /// The arrivals that were read.
    package var arrivals: [BrandArrivals] { state.withLock { ($0.sums?.values).map(Array.init) ?? [] } }

    /// The day of each trunk's first inbound call in the span, in days since 1970.
    package var firstDaysOfTrunks: [String: Int64] { state.withLock { $0.firstDays } }

    private func take(_ piece: Piece, _ state: inout State) {
        for row in piece.trunks {
            let (trunk, day) = (row[0] as String, row[1] as Int64)
            state.firstDays[trunk] = min(day, state.firstDays[trunk] ?? day)
        }
        for row in piece.owners where state.ownerOfCaller[row[0]] == nil {
            let owner = BrandArrivals.Owner(brand: row[1], brandID: row[2], customer: row[3])
            let place = state.places[owner] ?? state.owners.count
            if place == state.owners.count {
                state.owners.append(owner)
                state.places[owner] = place
            }
            state.ownerOfCaller[row[0]] = place
        }
        for call in piece.calls { add(call, &state) }
    }

    private func add(_ call: Arrived, _ state: inout State) {
        var sum =
            state.sums?.removeValue(forKey: call.key)
            ?? BrandArrivals(
                owner: state.owners[call.key.owner], day: call.key.day, way: call.key.way, calls: 0, firstAt: call.at,
                lastAt: call.at)
        sum.calls += 1
        (sum.firstAt, sum.lastAt) = (min(sum.firstAt, call.at), max(sum.lastAt, call.at))
        if call.key.day >= firstDetailed {
            let caller = "+\(call.caller)"
            if sum.callers.count < Self.mostListed, !sum.callers.contains(caller) { sum.callers.append(caller) }
            if sum.examples.count < Self.mostListed { sum.examples.append(call.callID) }
        }
        state.sums?[call.key] = sum
    }

    /// A call with a number of a brand.
    private struct Arrived {
        let key: Key
        let caller: Int64
        /// Microseconds since 1970.
        let at: Int64
        let callID: String
    }

    /// The rows of one piece.
    private struct Piece {
        var trunks: [Row] = []
        var owners: [Row] = []
        var calls: [Arrived] = []

        mutating func readOwners(_ database: Database, _ piece: LedgerReader.Piece) throws -> LedgerReader.PieceResult {
            let trunks = try Row.fetchAll(
                database,
                sql: """
                    SELECT trunk, min(invite_at) / \(microsecondsOfDay) FROM call
                    WHERE \(piece.condition) AND direction = 1 AND trunk IS NOT NULL GROUP BY trunk
                    """, arguments: piece.arguments)
            let owners = try Row.fetchAll(
                database,
                sql: """
                    SELECT caller, brand_name, brand_id, customer, max(invite_at) FROM call
                    WHERE \(piece.condition) AND direction = 1 AND decision = 'matched' AND caller IS NOT NULL
                        AND brand_name IS NOT NULL
                    GROUP BY caller
                    """, arguments: piece.arguments)
            self.trunks += trunks
            self.owners += owners
            return trunks.isEmpty && owners.isEmpty ? .isEmpty : .hasCalls
        }

        /// - Parameter owners: the places of the brands by their callers; calls of others are passed over.
        mutating func readArrivals(
            _ database: Database, _ piece: LedgerReader.Piece, _ owners: [Int64: Int]
        ) throws -> LedgerReader.PieceResult {
            // Groups in SQL would sort each piece, with the calls of all other numbers.
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT caller, invite_at, trunk, coalesce(evidence, 0) & \(ArrivalsReading.findings),
                        coalesce(trust >> 1 & 7 = 5, 0), provider, decision = 'matched', call_id
                    FROM \(CallColumn.source) WHERE \(piece.condition) AND direction = 1 AND caller IS NOT NULL
                    """, arguments: piece.arguments)
            var isEmpty = true
            while let row = try rows.next() {
                isEmpty = false
                let caller: Int64 = row[0]
                guard let place = owners[caller] else { continue }
                let (at, findings) = (row[1] as Int64, row[3] as Int64)
                let way = BrandArrivals.Way(
                    trunk: row[2], evidence: DecisionEvidence(rawValue: UInt32(truncatingIfNeeded: findings)),
                    isSignatureFailed: row[4], provider: row[5], isBranded: row[6])
                let key = Key(owner: place, day: at / microsecondsOfDay, way: way)
                calls.append(Arrived(key: key, caller: caller, at: at, callID: row[7]))
            }
            return isEmpty ? .isEmpty : .hasCalls
        }
    }
}
