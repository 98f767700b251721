// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The messages of all accounts that wait for a push service.
///
/// Several programs of one database share it. Each delivery is leased by one of them at a time. A program that is killed
/// leaves its leases behind. They end after `lease` seconds, and another program makes these deliveries once more.
package struct PushOutbox: Sendable {
    let database: DirectoryDatabase

    /// Seconds for which one program has a delivery for itself.
    package static let lease: Int64 = 60

    package init(_ database: DirectoryDatabase) { self.database = database }

    /// The state of a delivery.
    enum State: String {
        case waiting
        /// The push service has the message.
        case sent
        /// The push service has a message that is no longer true, and waits for the silent one in its place.
        case withdrawing
        /// Nothing more is sent: withdrawn in time, refused, or too late.
        case ended
    }

    /// True if a message is open or a delivery is due; a read that waits for no writer.
    ///
    /// - Parameter now: seconds since 1970.
    package func hasWork(now: Int64) async throws -> Bool {
        try await database.pool.readEach { database in
            try database.exists(
                """
                SELECT 1 WHERE EXISTS (SELECT 1 FROM push_message WHERE open)
                    OR EXISTS (SELECT 1 FROM push_delivery WHERE due <= ?)
                """, [now])
        }
    }

    /// Finds the devices of one open message, `PushLimits.step` at most; false if no message is open.
    ///
    /// Calls come first: a changed brand may need many steps.
    ///
    /// - Parameter now: seconds since 1970.
    package func fanOut(now: Int64) async throws -> Bool {
        try await database.pool.write(.locked) { database in
            guard let message = try Self.open("<>", database) ?? Self.open("=", database) else { return false }
            try Self.advance(message, now: now, database)
            return true
        }
    }

    /// The first open message whose topic is, or is not, that of a changed brand.
    private static func open(_ comparison: String, _ database: any SQLConnection) throws -> SQLRow? {
        let lock = database.dialect == .sqlite ? "" : "FOR UPDATE SKIP LOCKED"
        return try database.row(
            "SELECT * FROM push_message WHERE open AND topic \(comparison) ? ORDER BY id LIMIT 1 \(lock)",
            [PushTopic.brandChanged.rawValue])
    }

    private static func advance(_ message: SQLRow, now: Int64, _ database: any SQLConnection) throws {
        let (id, expires): (Int64, Int64) = (message["id"], message["expires"])
        let withdrawn: Int64? = message["withdrawn"]
        if withdrawn != nil {
            try withdraw(id, now: now, database)
            return try close(id, database)
        }
        guard expires > now, let topic = PushTopic(rawValue: message["topic"]) else { return try close(id, database) }
        let (devices, last) =
            try topic == .brandChanged
            ? Self.devicesOfBrand(message, database) : Self.devicesOfNumber(message, topic, database)
        let account: Int64 = message["account"]
        let columns =
            [SQLColumn("message", .integer), SQLColumn("account", .integer)]
            + ["device_id", "state"].map { SQLColumn($0, .text) }
            + [SQLColumn("due", .integer), SQLColumn("called", .text)]
        let called = (message["number"] as Int64?).map { SQLValue.text(NumberMask.masked("+\($0)")) } ?? .null(.text)
        if !devices.isEmpty {
            _ = try database.insert(
                into: "push_delivery", columns,
                devices.map {
                    [.integer(id), .integer(account), .text($0), .text(State.waiting.rawValue), .integer(now), called]
                }, "ON CONFLICT (message, device_id) DO NOTHING")
        }
        guard let last else { return try close(id, database) }
        try database.execute("UPDATE push_message SET last_device = ? WHERE id = ?", [last, id])
    }

    /// The called number is removed with the last step.
    private static func close(_ id: Int64, _ database: any SQLConnection) throws {
        try database.execute("UPDATE push_message SET open = FALSE, number = NULL WHERE id = ?", [id])
    }

    /// Devices of one step, and the last one that it looked at; nil after the last step.
    private typealias Step = (devices: [String], last: String?)

    /// The next devices of the called number of a message.
    private static func devicesOfNumber(
        _ message: SQLRow, _ topic: PushTopic, _ database: any SQLConnection
    ) throws -> Step {
        guard let number: Int64 = message["number"] else { return ([], nil) }
        let (account, last): (Int64, String) = (message["account"], message["last_device"])
        let devices = try database.values(
            String.self,
            """
            SELECT push_device.device_id FROM push_number
            JOIN push_device ON push_device.account = push_number.account
                AND push_device.device_id = push_number.device_id
            WHERE push_number.account = ? AND number = ? AND push_number.device_id > ? AND confirmed IS NOT NULL
                AND \(topic.rawValue) ORDER BY push_number.device_id LIMIT \(PushLimits.step)
            """, [account, number, last])
        return (devices, devices.count == PushLimits.step ? devices.last : nil)
    }

    /// Those of the next devices of an account that had a message of the brand.
    ///
    /// A step has a bounded number of devices, because the messages of a brand may be a hundred thousand.
    private static func devicesOfBrand(_ message: SQLRow, _ database: any SQLConnection) throws -> Step {
        let (account, brand, last): (Int64, String, String) = (
            message["account"], message["brand_id"], message["last_device"]
        )
        let (id, time): (Int64, Int64) = (message["id"], message["sent_at"])
        let rows = try database.rows(
            """
            SELECT device_id, brand_changed
                AND EXISTS (SELECT 1 FROM push_number WHERE push_number.account = push_device.account
                    AND push_number.device_id = push_device.device_id AND confirmed IS NOT NULL)
                AND EXISTS (SELECT 1 FROM push_delivery JOIN push_message ON push_message.id = push_delivery.message
                    WHERE push_delivery.account = push_device.account
                    AND push_delivery.device_id = push_device.device_id
                    AND brand_id = ? AND push_message.id <> ? AND sent_at > ?) AS is_known
            FROM push_device WHERE account = ? AND device_id > ? ORDER BY device_id LIMIT \(PushLimits.step)
            """, [brand, id, time - PushLimits.kept, account, last])
        return (
            rows.filter { $0["is_known"] }.map { $0["device_id"] },
            rows.count == PushLimits.step ? rows.last?["device_id"] : nil
        )
    }

    /// Ends deliveries that no push service has, and makes those of the others due once more.
    ///
    /// A delivery that is being made counts as made.
    private static func withdraw(_ id: Int64, now: Int64, _ database: any SQLConnection) throws {
        try database.execute(
            """
            UPDATE push_delivery SET state = 'withdrawing', due = ?, attempts = 0, holder = NULL
            WHERE message = ? AND (state = 'sent' OR (state = 'waiting' AND (holder IS NOT NULL OR attempts > 0)))
            """, [now, id])
        try database.execute(
            "UPDATE push_delivery SET state = 'ended', due = NULL, holder = NULL WHERE message = ? AND state = 'waiting'",
            [id])
    }

    /// Removes messages after `PushLimits.kept`, and invitations that have expired; true if there may be more.
    ///
    /// A message may have a thousand deliveries, so these are removed before it, in steps of their own.
    ///
    /// - Parameter now: seconds since 1970.
    package func removeOld(now: Int64) async throws -> Bool {
        try await database.pool.write(.locked) { database in
            try database.execute("DELETE FROM push_invitation WHERE expires < ?", [now])
            // A directory that sends no more has open messages, whose called numbers are of no use any longer.
            try database.execute(
                "UPDATE push_message SET open = FALSE, number = NULL WHERE open AND expires < ?", [now])
            let deliveries = try database.execute(
                """
                DELETE FROM push_delivery WHERE (message, device_id) IN (
                    SELECT message, device_id FROM push_message JOIN push_delivery ON message = push_message.id
                    WHERE sent_at < ? LIMIT \(PushLimits.removed))
                """, [now - PushLimits.kept])
            if deliveries == PushLimits.removed { return true }
            let count = try database.execute(
                """
                DELETE FROM push_message WHERE id IN (
                    SELECT id FROM push_message WHERE sent_at < ? ORDER BY sent_at LIMIT \(PushLimits.removed))
                """, [now - PushLimits.kept])
            return count == PushLimits.removed
        }
    }

    /// Counts of all accounts.
    package struct Figures: Hashable, Sendable {
        /// Devices with a confirmed number.
        package let devices: Int
        /// Devices whose numbers all wait for an operator.
        package let waitingDevices: Int
        /// Deliveries that have failed at least once and are tried again.
        package let retried: Int
    }

    /// The figures of this moment.
    package func figures() async throws -> Figures {
        try await database.pool.read { database in
            let confirmed = """
                EXISTS (SELECT 1 FROM push_number WHERE push_number.account = push_device.account
                    AND push_number.device_id = push_device.device_id AND confirmed IS NOT NULL)
                """
            func count(_ table: String, _ condition: String) throws -> Int {
                try database.value(Int.self, "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
            }
            return Figures(
                devices: try count("push_device", confirmed),
                waitingDevices: try count("push_device", "NOT \(confirmed)"),
                retried: try count("push_delivery", "due IS NOT NULL AND attempts > 0"))
        }
    }

    /// Deliveries that wait.
    package func waiting() async throws -> Int {
        try await database.pool.read { database in
            try database.value(Int.self, "SELECT count(*) FROM push_delivery WHERE due IS NOT NULL") ?? 0
        }
    }
}
