// SPDX-License-Identifier: Apache-2.0

/// A message for one device, leased by this program.
package struct PushDelivery: Hashable, Sendable {
    package let account: AccountID
    package let device: String
    package let platform: PushPlatform
    /// A token, or a subscription as JSON.
    package let address: String
    package let topic: PushTopic
    /// The call's identifier; of a brand that changed, `brand-` and 16 hexadecimal digits.
    package let key: String
    package let brandID: String
    /// The present name of the brand.
    package let brandName: String
    package let reason: String?
    /// Nil follows the configuration.
    package let disclosure: PushDisclosure?
    /// Seconds since 1970.
    package let sentAt: Int64
    /// Seconds since 1970.
    package let expires: Int64
    /// Attempts before this one.
    package let attempts: Int
    /// True for the silent message that takes the place of one that is no longer true.
    package let isWithdrawal: Bool
    let message: Int64
    let holder: String
}

extension PushOutbox {
    /// Leases deliveries that are due, those that have waited longest first.
    ///
    /// A delivery that came too late, or whose brand is out of use, ends here.
    ///
    /// - Parameter now: seconds since 1970.
    package func lease(_ limit: Int, now: Int64) async throws -> [PushDelivery] {
        let holder = NewSecret.text("", bytes: 8)
        return try await database.pool.write(.locked) { database in
            let lock = database.dialect == .sqlite ? "" : "FOR UPDATE SKIP LOCKED"
            // PostgreSQL may run a subquery with a lock several times, and then takes more than the limit. It runs a
            // common table expression once.
            let leased = try database.rows(
                """
                WITH next AS (SELECT message, device_id FROM push_delivery WHERE due <= ? ORDER BY due LIMIT ? \(lock))
                UPDATE push_delivery SET holder = ?, due = ?
                WHERE (message, device_id) IN (SELECT message, device_id FROM next) RETURNING message, device_id
                """, [now, limit, holder, now + Self.lease])
            if leased.isEmpty { return [] }
            return try Self.contents(of: leased, holder, now: now, database)
        }
    }

    private static func contents(
        of leased: [SQLRow], _ holder: String, now: Int64, _ database: any SQLConnection
    ) throws -> [PushDelivery] {
        let query = SQLListQuery(
            [SQLColumn("message", .integer), SQLColumn("device_id", .text)],
            leased.map { [.integer($0["message"]), .text($0["device_id"])] }
        ) { asked in
            """
            SELECT push_delivery.*, platform, address, disclosure, topic, key, push_message.brand_id, sent_at, expires,
                withdrawn, coalesce(brand_number.name, brand.name) AS name, brand_number.call_reason AS reason,
                coalesce(brand_number.active, brand.owner = 'active', FALSE) AS is_shown
            FROM \(asked) JOIN push_delivery USING (message, device_id)
            JOIN push_message ON push_message.id = push_delivery.message
            JOIN push_device ON push_device.account = push_delivery.account
                AND push_device.device_id = push_delivery.device_id
            LEFT JOIN brand_number ON brand_number.account = push_message.account
                AND brand_number.number = push_message.brand_number
                AND brand_number.brand_id = push_message.brand_id
            LEFT JOIN brand ON brand.account = push_message.account AND brand.id = push_message.brand_id
            """
        }
        var deliveries: [PushDelivery] = []
        for row in try database.rows([query])[0] {
            if let delivery = delivery(row, holder, now: now) {
                deliveries.append(delivery)
            } else {
                try end(row["message"], row["device_id"], holder, database)
            }
        }
        return deliveries
    }

    /// Nil for a delivery that must not be made.
    private static func delivery(_ row: SQLRow, _ holder: String, now: Int64) -> PushDelivery? {
        let isWithdrawal = row["state"] == State.withdrawing.rawValue
        let (expires, isShown): (Int64, Bool) = (row["expires"], row["is_shown"])
        let withdrawn: Int64? = row["withdrawn"]
        guard expires > now, isShown || isWithdrawal, isWithdrawal || withdrawn == nil,
            let platform = PushPlatform(rawValue: row["platform"]), let topic = PushTopic(rawValue: row["topic"])
        else { return nil }
        return PushDelivery(
            account: AccountID(row: row["account"]), device: row["device_id"], platform: platform,
            address: row["address"], topic: topic, key: row["key"], brandID: row["brand_id"],
            brandName: row["name"] ?? "", reason: row["reason"],
            disclosure: (row["disclosure"] as String?).flatMap(PushDisclosure.init(rawValue:)), sentAt: row["sent_at"],
            expires: expires, attempts: row["attempts"], isWithdrawal: isWithdrawal, message: row["message"],
            holder: holder)
    }

    /// Records that a push service has the message.
    ///
    /// - Returns: false if another program has leased the delivery meanwhile.
    @discardableResult
    package func finish(_ delivery: PushDelivery) async throws -> Bool {
        try await change(
            delivery, "state = ?, due = NULL, holder = NULL, attempts = attempts + 1",
            [
                delivery.isWithdrawal ? State.ended.rawValue : State.sent.rawValue
            ])
    }

    /// Makes a delivery due again; the attempt counts.
    ///
    /// - Parameter due: seconds since 1970.
    @discardableResult
    package func postpone(_ delivery: PushDelivery, until due: Int64) async throws -> Bool {
        try await change(delivery, "due = ?, holder = NULL, attempts = attempts + 1", [due])
    }

    /// Gives a delivery back that was not attempted.
    ///
    /// - Parameter due: seconds since 1970.
    @discardableResult
    package func release(_ delivery: PushDelivery, until due: Int64) async throws -> Bool {
        try await change(delivery, "due = ?, holder = NULL", [due])
    }

    /// Ends a delivery that no attempt can make.
    @discardableResult
    package func giveUp(_ delivery: PushDelivery) async throws -> Bool {
        try await change(
            delivery, "state = ?, due = NULL, holder = NULL, attempts = attempts + 1",
            [
                State.ended.rawValue
            ])
    }

    /// Removes the device of a delivery, because its push service does not know it any more.
    ///
    /// A device that has registered a new address meanwhile stays.
    package func removeDevice(of delivery: PushDelivery) async throws -> Bool {
        try await database.pool.write(.locked) { database in
            try database.execute(
                "DELETE FROM push_device WHERE account = ? AND device_id = ? AND address = ?",
                [delivery.account.row, delivery.device, delivery.address]) > 0
        }
    }

    private func change(_ delivery: PushDelivery, _ change: String, _ values: [any SQLArgument]) async throws -> Bool {
        let key: [any SQLArgument] = [delivery.message, delivery.device, delivery.holder]
        let arguments = SQLArguments((values + key).map(\.sqlArgument))
        return try await database.commits.write { database in
            try database.execute(
                "UPDATE push_delivery SET \(change) WHERE message = ? AND device_id = ? AND holder = ?", arguments) > 0
        }
    }

    private static func end(
        _ message: Int64, _ device: String, _ holder: String, _ database: any SQLConnection
    ) throws {
        try database.execute(
            """
            UPDATE push_delivery SET state = 'ended', due = NULL, holder = NULL
            WHERE message = ? AND device_id = ? AND holder = ?
            """, [message, device, holder])
    }
}
