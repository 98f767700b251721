// SPDX-License-Identifier: Apache-2.0

/// The durable queue of events for the directory, as the sender sees it.
///
/// Every function is a short database transaction and may throw a database error. The event then stays in the queue and
/// is offered again. Safe from any thread; never called on the call path.
public protocol EventOutbox: Sendable {
    /// The oldest events whose time has come, at most `limit`; `now` in seconds since 1970.
    func dueEvents(limit: Int, now: Int64) async throws -> [PendingEvent]
    /// The directory took the event, counted or not. It is kept for the operator until retention ends.
    func markDelivered(key: String, receipt: EventReceipt, now: Int64) async throws
    /// The directory rejected the event for good (4xx). It is kept as refused with the response, and can be sent again.
    func markRefused(key: String, status: Int, reason: String, now: Int64) async throws
    /// The event did not arrive: counts an attempt and makes it due again at `until` (seconds since 1970).
    func postpone(key: String, until: Int64, reason: String) async throws
}

/// An event waiting to be sent, with the number of attempts made so far.
public struct PendingEvent: Hashable, Sendable {
    public var event: OutcomeEvent
    public var attempts: Int
    /// When it was stored, in seconds since 1970; nil if unknown.
    public var storedAt: Int64?

    public init(event: OutcomeEvent, attempts: Int, storedAt: Int64? = nil) {
        self.event = event
        self.attempts = attempts
        self.storedAt = storedAt
    }
}

/// The directory's response to an event.
public struct EventReceipt: Hashable, Sendable {
    /// The server's own `event_id`, if any.
    public var eventID: String?
    /// `counted`; false with a reason is final, nil if the response lacks it.
    public var counted: Bool?
    /// The reason why the event was not counted.
    public var reason: String?

    public init(eventID: String? = nil, counted: Bool?, reason: String? = nil) {
        self.eventID = eventID
        self.counted = counted
        self.reason = reason
    }
}
