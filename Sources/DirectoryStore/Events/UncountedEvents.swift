// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

/// Why an event does not count, of the contract's nine reasons those that can happen in this directory:
///
/// - `analytics_only`: every outcome but `displayed` is telemetry.
/// - `account_suspended`, `disabled`, `cap_reached`: the account's own gates.
/// - `no_match`: the number has no active entry, so nothing of this directory was shown.
/// - `owner_suspended`, `owner_unresolved`: the owner of its brand is, or its entry names no brand.
/// - `event_dropped`: a field breaks the contract's rules (`ReportedEvent`). An event that comes weeks late or from a
///   machine with a wrong clock keeps them: its brand was shown.
///
/// `pending_enrichment` cannot: everything needed is in one database and is judged in the transaction that stores the event.
extension UncountedReason {
    /// Nil for an event that counts.
    ///
    /// - Parameters:
    ///   - standing: how the event's number stands.
    ///   - config: the account's state before the event.
    static func of(
        _ event: EventRequest, of standing: (brandID: String?, reason: UncountedReason?), _ config: DirectoryConfig
    ) -> UncountedReason? {
        guard event.outcome == "displayed" else { return .analyticsOnly }
        if !config.hasActiveAccount { return .accountSuspended }
        if config.brandingEnabled == false { return .disabled }
        if let reason = standing.reason { return reason }
        if standing.brandID?.isEmpty != false { return .ownerUnresolved }
        return config.isCapReached ? .capReached : nil
    }
}
