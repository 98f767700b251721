// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewayStore
import Host
import PostgreSQL

/// Finds calls of the shared ledger, the newest first.
///
/// Whole identifiers and whole numbers are found by an index. All else is read from the newest call backwards, in pieces of time
/// and pages after the last row, so that no statement grows with the table. Such a search ends after some seconds.
struct SharedCallSearch {
    /// The time after which a search reads no further piece.
    static let patience = Duration.seconds(15)
    /// Most rows of one statement.
    static let page = 2_000
    /// The first piece, in microseconds; the next ones are longer while that is fast.
    private static let firstPiece: Int64 = 3_600_000_000

    private let session: PostgreSQLSession
    private let filter: CallFilter
    private let limit: Int
    private var seen: Set<String> = []
    private(set) var found: [(row: PostgreSQLRow, values: [String: ColumnValue])] = []
    /// The begin of the time that was read, in seconds since 1970; nil if everything was read.
    private(set) var searchedSince: Int64?

    init(_ session: PostgreSQLSession, _ filter: CallFilter, limit: Int) {
        (self.session, self.filter, self.limit) = (session, filter, limit)
    }

    /// Reads up to `limit` calls into `found`.
    mutating func run() throws {
        let row = try session.execute("SELECT min(invite_at), max(invite_at) FROM ledger.call").first
        guard let oldest = try row?.integer(0), let newest = try row?.integer(1) else { return }
        let range = Swift.max(oldest, filter.since.map { $0 * 1_000_000 } ?? oldest)..<Swift.max(newest, oldest) + 1
        if let name = filter.callID ?? filter.callIDPart {
            try find(called: name, oldest..<newest + 1)
            if filter.callID != nil || !found.isEmpty { return }
        }
        if let number = filter.number {
            try find(number)
        } else if filter.outcome == "OPEN" {
            // The open calls have an index of their own.
            try add(select(SharedConditions(filter), limit: limit))
        } else {
            try scan(range)
        }
    }

    // MARK: By an index

    /// The hour of a call in the indexes of identifiers: entries of one time are close together in them.
    static let hour = "(call.invite_at / 3600000000)::integer"

    /// The words of `CalledParty.stored`: numbers and users.
    static let parties = "string_to_array(translate(call.also_called, chr(10), ' '), ' ')"

    private mutating func find(called name: String, _ range: Range<Int64>) throws {
        var conditions = SharedConditions(filter, isNamed: true)
        let hours = (range.lowerBound / 3_600_000_000...range.upperBound / 3_600_000_000).map { $0 }
        let (text, list) = (conditions.value(.text(name)), conditions.value(.integers(hours)))
        let arms =
            ["call_id", "sip_call_id"].map { column in
                "call.\(column) = \(text)::text AND hashtext(call.\(column)) = hashtext(\(text)::text) "
                    + "AND \(Self.hour) = ANY (\(list)::integer[])"
            } + ["attempt_call_id", "attempt_sip_call_id"].map { "call.\($0) = \(text)::text" }
        let keys = arms.map { "SELECT call.node, call.ledger, call.id FROM ledger.call WHERE \($0)" }
        conditions.require("(call.node, call.ledger, call.id) IN (\(keys.joined(separator: " UNION ALL ")))")
        try add(select(conditions, limit: limit))
    }

    private mutating func find(_ number: E164Number) throws {
        var conditions = SharedConditions(filter, isNamed: true)
        let digits = conditions.value(.integer(Int64(number.digits)))
        let party = conditions.value(.text("\(number)"))
        let isOther =
            "call.caller IS DISTINCT FROM \(digits)::bigint AND call.destination IS DISTINCT FROM \(digits)::bigint"
        var arms = [
            "call.caller = \(digits)::bigint",
            "call.destination = \(digits)::bigint AND call.caller IS DISTINCT FROM \(digits)::bigint",
            "call.also_called IS NOT NULL AND \(Self.parties) @> ARRAY[\(party)::text] AND \(isOther)",
        ]
        if let received = filter.received {
            let part = conditions.value(SharedConditions.part(received))
            arms.append("call.caller_received IS NOT NULL AND call.caller_received ILIKE \(part)::text AND \(isOther)")
        }
        let rows = arms.map { arm in
            "(SELECT call.* FROM ledger.call \(conditions.sql) AND \(arm) ORDER BY call.invite_at DESC LIMIT \(limit))"
        }.joined(separator: " UNION ALL ")
        try add(
            PostgreSQLCommand(
                "SELECT \(Self.columns) FROM (\(rows)) AS call \(Self.joins) \(Self.order) LIMIT \(limit)",
                conditions.values))
    }

    // MARK: From the newest backwards

    private mutating func scan(_ range: Range<Int64>) throws {
        let began = SteadyClock.microseconds
        var end = filter.until.map { Swift.min(range.upperBound, ($0 + 1) * 1_000_000) } ?? range.upperBound
        var piece = Self.firstPiece
        while found.count < limit, end > range.lowerBound {
            let start = SteadyClock.microseconds
            guard .microseconds(start - began) < Self.patience else {
                searchedSince = end / 1_000_000
                return
            }
            let begin = Swift.max(range.lowerBound, end - piece)
            try read(begin..<end)
            end = begin
            let took = Duration.microseconds(SteadyClock.microseconds - start)
            if took < .milliseconds(500) {
                piece *= 4
            } else if took > .seconds(3) {
                piece = Swift.max(piece / 2, 1_000_000)
            }
        }
    }

    /// Reads the calls of a time, page by page.
    private mutating func read(_ range: Range<Int64>) throws {
        var last: [PostgreSQLValue]?
        while found.count < limit {
            var conditions = SharedConditions(filter)
            let (begin, end) = (
                conditions.value(.integer(range.lowerBound)), conditions.value(.integer(range.upperBound))
            )
            conditions.require("call.invite_at >= \(begin)::bigint AND call.invite_at < \(end)::bigint")
            if let last {
                let key = last.map { conditions.value($0) + "::bigint" }
                conditions.require("call.invite_at <= \(key[0])")
                conditions.require(
                    "(call.invite_at, call.id, call.node, call.ledger) < (\(key.joined(separator: ", ")))")
            }
            let count = Swift.min(limit - found.count, Self.page)
            let rows = try add(select(conditions, limit: count))
            guard rows.count == count, let key = rows.last else { return }
            last = key
        }
    }

    // MARK: Rows

    private static let columns =
        "node.name, call.node, call.ledger, "
        + SharedTable.call.columns.map { column in
            column.name == "returned_at" ? "coalesce(call.returned_at, back.invited_at)" : "call.\(column.name)"
        }.joined(separator: ", ")

    private static let joins = """
        JOIN ledger.node ON node.id = call.node
        LEFT JOIN LATERAL (
            SELECT at AS invited_at FROM ledger.returned
            WHERE returned.call_id = call.call_id AND return_call_id IS NOT NULL
        ) AS back ON true
        """

    private static let order = "ORDER BY call.invite_at DESC, call.id DESC, call.node DESC, call.ledger DESC"

    /// The rows are chosen first, and joined with what belongs to them then.
    private func select(_ conditions: SharedConditions, limit: Int) -> PostgreSQLCommand {
        PostgreSQLCommand(
            """
            SELECT \(Self.columns) FROM (
                SELECT call.* FROM ledger.call \(conditions.sql) \(Self.order) LIMIT \(limit)
            ) AS call \(Self.joins) \(Self.order)
            """, conditions.values)
    }

    /// Adds the rows of a statement with a limit of its own.
    ///
    /// - Returns: the number of rows, and the key of the last one.
    @discardableResult
    private mutating func add(_ command: PostgreSQLCommand) throws -> (count: Int, last: [PostgreSQLValue]?) {
        let rows = try session.execute(command.sql, command.values)
        var last: [PostgreSQLValue]?
        for row in rows {
            let values = try SharedLedgerReader.values(row, SharedTable.call.columns, from: 3)
            let (began, id) = (values["invite_at"]?.integer, values["id"]?.integer)
            last = [.integer(began), .integer(id), .integer(try row.integer(1)), .integer(try row.integer(2))]
            // A short call that two gateways had may have no owner.
            guard case .text(let id?)? = values["call_id"], seen.insert(id).inserted, found.count < limit else {
                continue
            }
            found.append((row, values))
        }
        return (rows.count, last)
    }
}

/// The conditions of a filter with their values.
private struct SharedConditions {
    private var conditions: [String] = []
    private(set) var values: [PostgreSQLValue] = []

    /// - Parameter isNamed: leaves out identifier and number, which the caller adds.
    init(_ filter: CallFilter, isNamed: Bool = false) {
        conditions.append(filter.namesCalls ? SharedSchema.belongsHere : SharedSchema.isShown)
        if let name = filter.name {
            require("(call.brand_name ILIKE ? OR call.carrier_name ILIKE ?)", Self.part(name), Self.part(name))
        }
        if let trunk = filter.trunk { require("call.trunk = ?", .text(trunk)) }
        if let customer = filter.customer { require("call.customer = ?", .text(customer)) }
        if let provider = filter.provider { require("upper(call.provider) = upper(?)", .text(provider)) }
        if filter.outcome == "OPEN" {
            require("call.ended_at IS NULL AND call.node > 0")
        } else if let outcome = filter.outcome {
            require("call.outcome = ?", .text(outcome))
        }
        if let since = filter.since { require("call.invite_at >= ?", .integer(since * 1_000_000)) }
        if let until = filter.until { require("call.invite_at < ?", .integer((until + 1) * 1_000_000)) }
        if let decisions = filter.decisions {
            require("call.decision = ANY (?::text[])", .texts(decisions.sorted()))
        }
        if let brand = filter.brand {
            // As `CallRecord.isNamedBySigner`.
            require(
                """
                (call.brand_id = ? OR lower(call.brand_name) = lower(?) AND NOT (call.decision = 'signed_name' \
                OR call.decision = 'shadow' AND ((coalesce(call.evidence, 0) >> 31) & 1) = 1))
                """, .text(brand), .text(brand))
        }
        guard !isNamed else { return }
        addNumbers(filter)
        if let part = filter.callIDPart {
            require(
                "concat_ws(' ', call.call_id, call.sip_call_id, call.attempt_call_id, call.attempt_sip_call_id) ILIKE ?",
                Self.part(part))
        }
    }

    var sql: String { "WHERE " + conditions.joined(separator: " AND ") }

    /// Adds a value, and returns its place in the statement.
    mutating func value(_ value: PostgreSQLValue) -> String {
        values.append(value)
        return "$\(values.count)"
    }

    /// Adds a condition; each `?` is the next value.
    mutating func require(_ condition: String, _ given: PostgreSQLValue...) {
        var parts = condition.split(separator: "?", omittingEmptySubsequences: false).map(String.init)
        var text = parts.removeFirst()
        for (next, part) in zip(given, parts) { text += value(next) + part }
        conditions.append(text)
    }

    /// Parts of numbers; whole ones have an index.
    private mutating func addNumbers(_ filter: CallFilter) {
        guard filter.number != nil || filter.received != nil || filter.numberEnd != nil else { return }
        let digits = PostgreSQLValue.integer(filter.number.map { Int64($0.digits) })
        let end = filter.numberEnd.map { PostgreSQLValue.text("%" + Self.literal($0)) } ?? .null
        require(
            """
            (call.caller = ?::bigint OR call.destination = ?::bigint OR call.caller_received ILIKE ?::text \
            OR call.caller::text LIKE ?::text OR call.destination::text LIKE ?::text OR call.also_called LIKE ?::text)
            """, digits, digits, filter.received.map(Self.part) ?? .null, end, end,
            // A line of `CalledParty.stored` has a space behind the number.
            filter.numberEnd.map { .text("%\(Self.literal($0)) %") } ?? .null)
    }

    /// A pattern that finds a text anywhere.
    static func part(_ text: String) -> PostgreSQLValue { .text("%" + literal(text) + "%") }

    private static func literal(_ text: String) -> String {
        text.reduce(into: "") { out, character in
            if "\\%_".contains(character) { out += "\\" }
            out.append(character)
        }
    }
}
