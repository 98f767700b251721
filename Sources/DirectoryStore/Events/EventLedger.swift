// SPDX-License-Identifier: Apache-2.0

import Branding
package import BrandingAPI
import Foundation

/// The events that gateways and phones report, one per key and account.
package struct EventLedger: Sendable {
    let database: DirectoryDatabase
    let account: AccountID

    package init(_ database: DirectoryDatabase, account: AccountID = .first) {
        self.database = database
        self.account = account
    }

    /// A recorded event; the keys of the JSON form are the contract's.
    package struct Recorded: Codable, Hashable, Sendable {
        package var eventID: String
        package var eventKey: String?
        package var number: String
        package var outcome: String
        package var surface: String?
        package var deviceID: String?
        package var displayedAt: String
        package var meta: [String: JSONValue]?
        package var counted: Bool
        package var reason: String?
        /// The reason for which only the raw event was stored, such as `invalid_phone_number_e164`; nil for a valid
        /// event.
        package var warning: String?
        package var receivedAt: String
        /// The brand of the number at the receipt; nil without one, and for events of versions that did not store it.
        package var brandID: String?
        /// `call_outcome` of `meta`; nil before the end of a call.
        package var callOutcome: String?

        package enum CodingKeys: String, CodingKey {
            case outcome, surface, meta, counted, reason
            case eventID = "event_id"
            case eventKey = "event_key"
            case number = "phone_number_e164"
            case deviceID = "device_id"
            case displayedAt = "displayed_at"
            case receivedAt = "received_at"
            case warning = "warning_code"
            case brandID = "brand_id"
            case callOutcome = "call_outcome"
        }
    }

    /// Records an event, or finds the earlier event of its key; both give the same response.
    ///
    /// - Parameter now: seconds since 1970.
    package func record(_ event: EventRequest, now: Int64) async throws -> EventResponse {
        try await record(ReportedEvent(event), now: now)
    }

    package func record(_ event: ReportedEvent, now: Int64) async throws -> EventResponse {
        let responses = try await record([event], now: now)
        guard let response = responses.first else { throw InconsistentStore(description: "an event has no response") }
        return response
    }

    /// Records several events in one transaction, each as if alone; a repeated key counts once.
    package func record(_ events: [ReportedEvent], now: Int64) async throws -> [EventResponse] {
        try await database.commits.write(
            EventBatch.Part(
                events: events, account: account, limit: database.storedPerDay, pushes: database.pushes.isOn, now: now))
    }

    /// The columns of `values`.
    static let columns: [SQLColumn] =
        [SQLColumn("account", .integer)]
        + ["event_id", "event_key", "number", "outcome", "surface", "device_id", "displayed_at", "meta"]
        .map { SQLColumn($0, .text) }
        + [SQLColumn("counted", .boolean), SQLColumn("reason", .text), SQLColumn("received", .integer)]
        + ["branding_request_id", "warning", "brand_id", "call_outcome"].map { SQLColumn($0, .text) }

    /// The row of an event.
    static func values(
        _ event: EventRequest, _ meta: String?, of brandID: String?, as response: EventResponse, _ account: AccountID,
        now: Int64
    ) -> [SQLValue] {
        let values: [any SQLArgument] = [
            account.row, response.eventID, event.eventKey, event.phoneNumber, event.outcome, event.surface,
            event.deviceID, response.displayedAt, meta, response.counted, response.reason, now,
            event.brandingRequestID, response.warningCode, brandID, CallResult.callOutcome(event),
        ]
        return values.map(\.sqlArgument)
    }

    /// The response to a new event, without the account's state.
    static func response(to reported: ReportedEvent, _ reason: UncountedReason?, now: Int64) -> EventResponse {
        var response = EventResponse(success: true)
        response.eventID = EventID.make(now: now)
        response.outcome = reported.event.outcome
        response.counted = reason == nil
        response.reason = reason?.rawValue
        response.displayedAt = reported.event.displayedAt ?? Timestamp.string(from: now)
        response.warn(reported.warning)
        return response
    }

    static func recorded(_ row: SQLRow) throws -> Recorded {
        let text: String? = row["meta"]
        let callOutcome: String? = row["call_outcome"]
        let meta = try text.map { try JSONValue.object(parsing: $0.utf8, levels: .max) }
        return Recorded(
            eventID: row["event_id"], eventKey: row["event_key"], number: row["number"], outcome: row["outcome"],
            surface: row["surface"], deviceID: row["device_id"], displayedAt: row["displayed_at"],
            meta: meta, counted: row["counted"], reason: row["reason"], warning: row["warning"],
            receivedAt: Timestamp.string(from: row["received"]), brandID: row["brand_id"],
            callOutcome: callOutcome ?? CallResult.callOutcome(meta))
    }

    /// The response to an event that is stored.
    static func known(_ row: SQLRow) -> EventResponse {
        var response = EventResponse(success: true)
        response.eventID = row["event_id"]
        response.outcome = row["outcome"]
        response.counted = row["counted"]
        response.reason = row["reason"]
        response.displayedAt = row["displayed_at"]
        response.warn(row["warning"])
        return response
    }
}

extension EventResponse {
    /// Marks a response as partial: only the raw event was stored.
    ///
    /// Nil changes nothing.
    fileprivate mutating func warn(_ code: String?) {
        guard let code else { return }
        (accepted, partial, warningCode) = (true, true, code)
    }
}
