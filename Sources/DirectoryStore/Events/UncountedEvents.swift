// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

/// The reasons of the contract for which an event does not count. This directory uses eight of nine:
///
/// - `analytics_only`: every outcome but `displayed` is telemetry.
/// - `account_suspended`, `disabled`, `cap_reached`: the account's own gates.
/// - `no_match`: the number had no active entry at that time, so no brand of this directory was shown.
/// - `owner_suspended`, `owner_unresolved`: the owner of its brand has that state, or its entry names no brand.
/// - `event_dropped`: a field breaks the contract's rules (`ReportedEvent`). A late event or a wrong clock breaks no
///   rule, because the brand was shown.
///
/// `pending_enrichment` does not occur: one transaction stores the event and reads everything that the decision needs.
extension UncountedReason {
    /// Nil for an event that counts.
    ///
    /// - Parameters:
    ///   - attribution: the brand of the event's number, and the reason against it.
    ///   - time: the time of the event; a number that was taken out later was still in use.
    ///   - config: the account's state before the event, with the usage of the event's month.
    static func of(
        _ event: EventRequest, of attribution: BrandNumbers.Attribution, at time: EventTime, _ config: DirectoryConfig
    ) -> UncountedReason? {
        guard event.outcome == "displayed" else { return .analyticsOnly }
        if !config.hasActiveAccount { return .accountSuspended }
        if config.brandingEnabled == false { return .disabled }
        if let reason = attribution.reason(at: time.displayed) { return reason }
        if attribution.brandID?.isEmpty != false { return .ownerUnresolved }
        return config.isCapReached ? .capReached : nil
    }
}
