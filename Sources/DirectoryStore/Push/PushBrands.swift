// SPDX-License-Identifier: Apache-2.0

import BrandingAPI

/// Stores the messages of brands whose name or logo has changed, inside the transaction of the change.
///
/// They go to devices that had a message of the brand in the last `PushLimits.kept` seconds. A brand without any has no
/// row. Imports make none: a file that corrects ten thousand brands would send that many messages.
enum PushBrands {
    static func write(
        _ before: BrandList.Brand, _ after: BrandList.Brand, _ account: AccountID, now: Int64,
        _ database: any SQLConnection
    ) throws {
        guard before.name != after.name || before.logo != after.logo, after.owner == .active else { return }
        let isKnown = try database.exists(
            "SELECT 1 FROM push_message WHERE account = ? AND brand_id = ? AND sent_at > ? LIMIT 1",
            [account.row, after.id, now - PushLimits.kept])
        guard isKnown else { return }
        try database.execute(
            """
            INSERT INTO push_message (account, topic, key, brand_id, sent_at, expires, open)
            VALUES (?, ?, ?, ?, ?, ?, TRUE) ON CONFLICT (account, topic, key) DO NOTHING
            """,
            [
                account.row, PushTopic.brandChanged.rawValue, "brand-\(after.version.digits)", after.id, now,
                now + PushLimits.lifetime,
            ])
    }
}
