// SPDX-License-Identifier: Apache-2.0

import Branding

// The numbers of registrations. Each function runs inside a transaction that has locked the account's feed.
extension Registrations {
    /// Gives the numbers to a registration, the name to the numbers, and stores the values.
    ///
    /// - Throws: `RegistrationError` without a need to undo anything but the transaction, or a database error.
    static func claim(
        _ fields: Registration.Fields, for id: String, _ account: AccountID, now: Int64,
        _ database: any SQLConnection
    ) throws {
        let brand = try brand(named: fields.name, of: fields.number, account, database)
        for number in fields.numbers { try take(number, for: id, account, now: now, database) }
        let entries = fields.numbers.map { number in
            BrandEntries.Entry(
                number: number, name: brand.name, brandID: brand.id, logoURL: brand.logo, callReason: brand.reason)
        }
        _ = try BrandEntries.put(entries, account, now: now, database)
        try store(fields, id, brand.id, account, now: now, database)
    }

    /// Takes numbers of a registration out of use, unless the operator has changed them meanwhile.
    ///
    /// The next registration may have them, except a number that the operator held back.
    static func release(
        _ numbers: [E164Number], of id: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws {
        for number in numbers {
            let digits = Int64(number.digits)
            let mine = try database.row(
                """
                SELECT held FROM registered_number JOIN brand_number USING (account, number)
                WHERE account = ? AND number = ? AND registration = ? AND released IS NULL
                """, [account.row, digits, id])
            guard let wasHeld = mine.map({ $0["held"] as Bool }) else { continue }
            let count = try ChangeCounter.apply(
                "active = FALSE, held = FALSE",
                where: """
                    number = :number AND (active OR held)
                    AND brand_id = (SELECT brand_id FROM registration WHERE id = :registration)
                    """, ["number": digits, "registration": id], account, now: now, database)
            let change = count == 0 || wasHeld ? 0 : try ChangeCounter.last(account, database)
            try database.execute(
                "UPDATE registered_number SET released = ? WHERE account = ? AND number = ?",
                [change, account.row, digits])
        }
    }

    /// Keeps released numbers out of use until the operator sets them again, because the operator has removed them.
    ///
    /// - Parameter condition: SQL over `registered_number`; `account` is reserved.
    static func withdraw(
        where condition: String, _ arguments: SQLArguments, _ account: AccountID, _ database: any SQLConnection
    ) throws {
        var all = arguments
        all.named["account"] = .integer(account.row)
        try database.execute(
            """
            UPDATE registered_number SET released = 0 WHERE account = :account AND \(releasedByRegistration) AND (\(condition))
            """, all)
    }

    /// The condition of a number that the next registration may have.
    static let releasedByRegistration = "released IS NOT NULL AND released <> 0"

    /// Removes a registration whose numbers are released.
    static func forget(_ id: String, _ account: AccountID, _ database: any SQLConnection) throws {
        try database.execute(
            "UPDATE registered_number SET registration = NULL WHERE account = ? AND registration = ?",
            [account.row, id])
        try database.execute("DELETE FROM registration WHERE account = ? AND id = ?", [account.row, id])
    }

    /// The brand of a name; of several the one that the number has already, or the first by identifier.
    private static func brand(
        named name: String, of number: E164Number, _ account: AccountID, _ database: any SQLConnection
    ) throws -> BrandList.Brand {
        let row = try database.row(
            """
            SELECT * FROM brand WHERE account = :account AND name = :name AND owner = :owner
            ORDER BY CASE WHEN id = (SELECT brand_id FROM brand_number WHERE account = :account AND number = :number)
                THEN 0 ELSE 1 END, id LIMIT 1
            """,
            [
                "account": account.row, "name": name, "owner": BrandList.Owner.active.rawValue,
                "number": Int64(number.digits),
            ])
        guard let row else { throw RegistrationError.unknownName }
        return BrandList.brand(row)
    }

    /// Makes a number the registration's own, if the account has it and no other registration has.
    private static func take(
        _ number: E164Number, for id: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws {
        let digits = Int64(number.digits)
        try endExpired(of: digits, except: id, account, now: now, database)
        let row = try database.row(
            "SELECT active, held, change FROM brand_number WHERE account = ? AND number = ?", [account.row, digits])
        guard let row else { throw RegistrationError.unknownNumber(number) }
        let claim = try database.row(
            "SELECT registration, released FROM registered_number WHERE account = ? AND number = ?",
            [account.row, digits])
        let holder = claim.flatMap { $0["registration"] as String? }
        let released = claim.flatMap { $0["released"] as Int64? }
        if let holder, holder != id { throw RegistrationError.taken(number) }
        let (isActive, isHeld, change): (Bool, Bool, Int64) = (row["active"], row["held"], row["change"])
        // A registration has taken it out of use itself, and nobody has changed it since.
        let isFree = !isHeld && released == change
        guard isActive || isFree else { throw RegistrationError.unusableNumber(number) }
        try database.execute(
            """
            INSERT INTO registered_number (account, number, registration, released) VALUES (?, ?, ?, NULL)
            ON CONFLICT (account, number) DO UPDATE SET registration = excluded.registration, released = NULL
            """, [account.row, digits, id])
    }

    /// Ends another registration of a number that has expired, also one that `expire` has not reached yet.
    private static func endExpired(
        of digits: Int64, except id: String, _ account: AccountID, now: Int64, _ database: any SQLConnection
    ) throws {
        var arguments = Self.arguments(account, now: now, id: id)
        arguments.named["digits"] = .integer(digits)
        let row = try database.row(
            """
            \(found) WHERE status = 'expired' AND id <> :id AND id IN (
                SELECT registration FROM registered_number WHERE account = :account AND number = :digits)
            """, arguments)
        guard let expired = try row.map({ try Registration($0) }) else { return }
        try release(expired.fields.numbers, of: expired.id, account, now: now, database)
        try forget(expired.id, account, database)
    }

    private static func store(
        _ fields: Registration.Fields, _ id: String, _ brand: String, _ account: AccountID, now: Int64,
        _ database: any SQLConnection
    ) throws {
        try database.execute(
            """
            INSERT INTO registration (id, account, number, alternate, brand_id, name, country, expires, asset, customer,
                action, campaign, purpose, created)
            VALUES (:id, :account, :number, :alternate, :brand, :name, :country, :expires, :asset, :customer,
                :action, :campaign, :purpose, :now)
            ON CONFLICT (id) DO UPDATE SET number = excluded.number, alternate = excluded.alternate,
                brand_id = excluded.brand_id, name = excluded.name, country = excluded.country,
                expires = excluded.expires, asset = excluded.asset, customer = excluded.customer,
                action = excluded.action, campaign = excluded.campaign, purpose = excluded.purpose
            """,
            [
                "id": id, "account": account.row, "number": Int64(fields.number.digits),
                "alternate": fields.alternate.map { Int64($0.digits) }, "brand": brand, "name": fields.name,
                "country": fields.country, "expires": fields.expires, "asset": fields.asset,
                "customer": fields.customer, "action": fields.action, "campaign": fields.campaign,
                "purpose": fields.purpose, "now": now,
            ])
    }
}
