// SPDX-License-Identifier: Apache-2.0

/// The durable queue between the outcome side and the directory, as the sender sees it.
///
/// Every call is a short database transaction and may throw a database error: the event then stays where it was and is
/// offered again. Safe from any thread; never called on the call path.
package protocol EventOutbox: Sendable {
    /// The oldest events whose time has come, at most `limit`; `now` in seconds since 1970.
    func dueEvents(limit: Int, now: Int64) async throws -> [PendingEvent]
    /// The directory took it, whether it counts it or not. Kept for the operator until retention ends.
    func markDelivered(key: String, receipt: EventReceipt, now: Int64) async throws
    /// The directory will never take it (a 4xx that repeats nothing): kept as refused with its answer, re-sendable.
    func markRefused(key: String, status: Int, reason: String, now: Int64) async throws
    /// It did not arrive: one more attempt is counted and it is due again at `until` (seconds since 1970).
    func postpone(key: String, until: Int64, reason: String) async throws
}

/// An event waiting to be sent, with the number of attempts made so far.
package struct PendingEvent: Hashable, Sendable {
    package var event: OutcomeEvent
    package var attempts: Int

    package init(event: OutcomeEvent, attempts: Int) {
        self.event = event
        self.attempts = attempts
    }
}

/// The directory's answer to an event.
package struct EventReceipt: Hashable, Sendable {
    /// The server's own `event_id`, if it gave one.
    package var eventID: String?
    /// `counted`; false with a reason is final, nil where the directory does not say.
    package var counted: Bool?
    /// Why it was not counted.
    package var reason: String?

    package init(eventID: String? = nil, counted: Bool?, reason: String? = nil) {
        self.eventID = eventID
        self.counted = counted
        self.reason = reason
    }
}
