// SPDX-License-Identifier: Apache-2.0

/// The registrations of an account; each gives the name of a brand to numbers that the account has.
///
/// The operator decides which numbers an account has, and which names: by its numbers and by its brands. A registration
/// makes neither. All changes of an account run one after another, under the lock of its feed.
package struct Registrations: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID) {
        self.database = database
        self.account = account
    }

    /// Makes a registration, which takes effect with the next sync of each gateway.
    ///
    /// An expired registration of the same number ends.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: `RegistrationError`, or a database error.
    package func create(_ fields: Registration.Fields, now: Int64) async throws -> Registration {
        let id = EventID.make(now: now)
        return try await write { account, database in
            try Self.claim(fields, for: id, account, now: now, database)
            return try Self.find(id, account, now: now, database)
        }
    }

    /// Replaces all values of a registration; numbers that it no longer names go out of use.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: `RegistrationError`, or a database error.
    package func replace(_ id: String, by fields: Registration.Fields, now: Int64) async throws -> Registration {
        try await write { account, database in
            let before = try Self.find(id, account, now: now, database)
            let left = before.fields.numbers.filter { !fields.numbers.contains($0) }
            try Self.release(left, of: id, account, now: now, database)
            try database.execute(
                "UPDATE registered_number SET registration = NULL WHERE account = ? AND registration = ? AND released IS NOT NULL",
                [account.row, id])
            try Self.claim(fields, for: id, account, now: now, database)
            return try Self.find(id, account, now: now, database)
        }
    }

    /// Ends a registration; its numbers go out of use.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: `RegistrationError.unknown`, or a database error.
    package func remove(_ id: String, now: Int64) async throws {
        try await write { account, database in
            let numbers = try Self.find(id, account, now: now, database).fields.numbers
            try Self.release(numbers, of: id, account, now: now, database)
            try Self.forget(id, account, database)
        }
    }

    /// Takes the numbers of some expired registrations out of use; true if there may be more.
    ///
    /// The registrations stay, with the status `expired`.
    ///
    /// - Parameter now: seconds since 1970.
    package static func expire(in database: DirectoryDatabase, now: Int64) async throws -> Bool {
        let today = EventTime.day(of: now)
        let due = try await database.pool.read { database in
            try database.rows(Self.due, [today]).map { (id: $0[0] as String, account: AccountID(row: $0[1])) }
        }
        for (id, account) in due {
            try await Registrations(database, account: account).write { account, database in
                // It may have a later end by now, or none.
                let rows = try database.rows(
                    "\(Self.found) WHERE id = :id AND status = 'expired'", Self.arguments(account, now: now, id: id))
                guard let row = rows.first else { return }
                try Self.release(try Registration(row).fields.numbers, of: id, account, now: now, database)
            }
        }
        return due.count == batch
    }

    /// Registrations per round of `expire`.
    private static let batch = 100

    private static let due = """
        SELECT DISTINCT registration.id, registration.account FROM registration
        JOIN registered_number ON registered_number.account = registration.account
            AND registered_number.registration = registration.id
        WHERE registration.expires <= ? AND registered_number.released IS NULL
        ORDER BY registration.id LIMIT \(batch)
        """

    /// Writes under the lock of the account's feed.
    private func write<Value: Sendable>(
        _ work: @escaping @Sendable (AccountID, any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await database.pool.write(.locked) { [account] database in
            _ = try ChangeCounter.lock(account, database)
            return try work(account, database)
        }
    }
}

// Reading.
extension Registrations {
    /// The registrations with their status, as a table; its arguments are `account` and `today`.
    static let found = """
        SELECT * FROM (
            SELECT registration.*, CASE WHEN registration.expires <= :today THEN 'expired'
                WHEN \(isNamed("main_number")) AND (registration.alternate IS NULL OR \(isNamed("second_number")))
                THEN 'active' ELSE 'inactive' END AS status
            FROM registration LEFT JOIN brand_number AS main_number
                ON main_number.account = registration.account AND main_number.number = registration.number
            LEFT JOIN brand_number AS second_number
                ON second_number.account = registration.account AND second_number.number = registration.alternate
            WHERE registration.account = :account) AS found
        """

    /// The condition of a number that gateways get with the registered brand and name.
    private static func isNamed(_ number: String) -> String {
        "(\(number).active AND \(number).brand_id = registration.brand_id AND \(number).name = registration.name)"
    }

    static func arguments(_ account: AccountID, now: Int64, id: String? = nil) -> SQLArguments {
        var arguments: SQLArguments = ["account": account.row, "today": EventTime.day(of: now)]
        if let id { arguments.named["id"] = .text(id) }
        return arguments
    }

    static func find(
        _ id: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws -> Registration {
        guard let row = try database.row("\(found) WHERE id = :id", arguments(account, now: now, id: id)) else {
            throw RegistrationError.unknown
        }
        return try Registration(row)
    }

    /// One registration.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: `RegistrationError.unknown`, or a database error.
    package func find(_ id: String, now: Int64) async throws -> Registration {
        try await database.pool.read { [account] in try Self.find(id, account, now: now, $0) }
    }

    /// The conditions of a search; nil for any value.
    package struct Filter: Hashable, Sendable {
        package var customer: String?
        package var name: String?
        package var status: Registration.Status?
        package var expires: String?
        package var country: Int?
        package var purpose: String?

        package init() {}

        /// The columns and their values.
        fileprivate var conditions: [(column: String, value: SQLValue)] {
            let texts = [
                ("customer", customer), ("name", name), ("status", status?.rawValue), ("expires", expires),
                ("purpose", purpose),
            ].compactMap { column, text in text.map { (column: column, value: SQLValue.text($0)) } }
            return texts + (country.map { [(column: "country", value: .integer(Int64($0)))] } ?? [])
        }
    }

    /// A page of registrations, oldest first, and the count of all that match.
    ///
    /// - Parameters:
    ///   - page: the number of the page, from 1.
    ///   - size: registrations of a page.
    ///   - now: seconds since 1970.
    package func page(
        _ filter: Filter, page: Int, size: Int, now: Int64
    ) async throws -> (registrations: [Registration], total: Int) {
        try await database.pool.read { [account] database in
            var arguments = Self.arguments(account, now: now)
            var query = Self.found
            for (place, condition) in filter.conditions.enumerated() {
                query += "\(place == 0 ? " WHERE" : " AND") \(condition.column) = :value\(place)"
                arguments.named["value\(place)"] = condition.value
            }
            let total = try database.value(Int.self, "SELECT count(*) FROM (\(query)) AS matching", arguments) ?? 0
            let (skipped, isBeyond) = (page - 1).multipliedReportingOverflow(by: size)
            if isBeyond || skipped >= total { return ([], total) }
            arguments.named["size"] = .integer(Int64(size))
            arguments.named["skipped"] = .integer(Int64(skipped))
            let rows = try database.rows("\(query) ORDER BY created, id LIMIT :size OFFSET :skipped", arguments)
            return (try rows.map { try Registration($0) }, total)
        }
    }
}
