// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import GRDB

/// Why an event does not count, of the contract's nine reasons those that can happen in this directory:
///
/// - `analytics_only`: every outcome but `displayed` is telemetry.
/// - `account_suspended`, `disabled`, `cap_reached`: the account's own gates.
/// - `no_match`: the number has no active entry, so nothing of this directory was shown.
/// - `owner_unresolved`: the entry names no brand (`brand_id`), so nobody can be found whom the display is counted for.
///
/// Three cannot. `event_dropped`: nothing is dropped; an event is stored or its request fails, and one that comes weeks
/// late or from a machine with a wrong clock was shown all the same. `owner_suspended`: the account owns all its brands here, and a suspended account says so itself.
/// `pending_enrichment`: everything needed is in one database and is judged in the transaction that stores the event.
extension UncountedReason {
    /// Nil for an event that counts; `now` is seconds since 1970.
    static func of(
        _ event: EventRequest, _ account: AccountID, now: Int64, _ database: Database
    ) throws -> UncountedReason? {
        guard event.outcome == "displayed" else { return .analyticsOnly }
        let config = try AccountStore.config(of: account, now: now, database)
        if config.accountStatus != "active", config.accountStatus != "trial" { return .accountSuspended }
        if config.brandingEnabled == false { return .disabled }
        guard let number = E164Number(event.phoneNumber), let entry = try BrandEntries.find(number, account, database)
        else { return .noMatch }
        if entry.brandID?.isEmpty != false { return .ownerUnresolved }
        if case .events(let cap) = config.capThisMonth, config.usedThisMonth ?? 0 >= cap { return .capReached }
        return nil
    }
}
