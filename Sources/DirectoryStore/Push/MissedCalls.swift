// SPDX-License-Identifier: Apache-2.0

/// A missed branded call in the list of a device.
package struct MissedCall: Hashable, Sendable {
    /// The call's identifier, and the tag of its message.
    package let id: String
    package let brandID: String
    /// The present name of the brand.
    package let brandName: String
    package let reason: String?
    /// The called number, masked; nil if the message has lost it.
    package let called: String?
    /// The end of the call, in seconds since 1970.
    package let time: Int64
    /// True once somebody picked up at another phone, or the person called back.
    package let isWithdrawn: Bool

    init(_ row: SQLRow) {
        let withdrawn: Int64? = row["withdrawn"]
        (id, brandID, brandName, reason) = (row["key"], row["brand_id"], row["name"] ?? "", row["reason"])
        (called, time, isWithdrawn) = (row["called"], row["sent_at"], withdrawn != nil)
    }
}

extension PushDevices {
    /// The missed calls of a device, those of the last `PushLimits.kept` seconds, the newest first.
    ///
    /// They are those of which messages were made. Calls before the first confirmation of its present numbers are left
    /// out, because another person may have had the device then. So are brands out of use.
    ///
    /// - Parameter now: seconds since 1970.
    package func missedCalls(of device: String, now: Int64) async throws -> [MissedCall] {
        try await database.pool.read { [account] database in
            try database.rows(
                """
                SELECT key, push_message.brand_id, sent_at, withdrawn, called,
                    coalesce(brand_number.name, brand.name) AS name, brand_number.call_reason AS reason
                FROM push_delivery JOIN push_message ON push_message.id = push_delivery.message
                LEFT JOIN brand_number ON brand_number.account = push_message.account
                    AND brand_number.number = push_message.brand_number
                    AND brand_number.brand_id = push_message.brand_id
                LEFT JOIN brand ON brand.account = push_message.account AND brand.id = push_message.brand_id
                WHERE push_delivery.account = ? AND push_delivery.device_id = ? AND topic = ? AND sent_at > ?
                    AND sent_at >= (SELECT min(confirmed) FROM push_number
                        WHERE push_number.account = push_delivery.account
                        AND push_number.device_id = push_delivery.device_id)
                    AND coalesce(brand_number.active, brand.owner = 'active', FALSE)
                ORDER BY sent_at DESC, push_message.id DESC LIMIT \(PushLimits.listed)
                """,
                [account.row, device, PushTopic.missedCall.rawValue, now - PushLimits.kept]
            ).map(MissedCall.init)
        }
    }
}
