// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

/// The end of a branded call, as an event reports it, with the person whom it was for.
///
/// The called number is `destination_number_e164` of `meta`, and the call `call_event_id`. An event without either makes
/// no message.
struct PushCall: Hashable, Sendable {
    enum End: Hashable, Sendable {
        case missed
        case returned
        /// Somebody picked up, perhaps at another phone of the same person.
        case answered
    }

    let account: AccountID
    let end: End
    /// The call's identifier; of a return call the one of the original.
    let call: String
    /// The called person; of a return call the brand.
    let called: E164Number
    let brandNumber: E164Number
    let brandID: String
    /// The end of the call, in seconds since 1970.
    let time: Int64

    /// - Parameters:
    ///   - time: the time of the event, in seconds since 1970.
    ///   - now: the time of its receipt; an event that comes a day late makes no message.
    init?(
        _ event: EventRequest, of brandNumber: E164Number, _ brandID: String, at time: Int64, _ account: AccountID,
        now: Int64
    ) {
        guard !brandID.isEmpty, time + PushLimits.lifetime > now, let end = Self.end(event),
            let call = event.callID, case .string(let text) = event.meta?["destination_number_e164"],
            let called = E164Number(text)
        else { return nil }
        (self.account, self.end, self.call, self.called) = (account, end, call, called)
        (self.brandNumber, self.brandID, self.time) = (brandNumber, brandID, time)
    }

    private static func end(_ event: EventRequest) -> End? {
        switch CallResult(event) {
        case .missed: .missed
        case .returned: .returned
        case .answered: .answered
        case nil:
            event.outcome != "displayed" && CallResult.callOutcome(event) == "ANSWERED_ELSEWHERE" ? .answered : nil
        }
    }
}

/// Stores the messages of calls inside the transaction of their events.
///
/// One call writes at most one row, whatever the number of devices. `PushOutbox` finds the devices later.
enum PushCalls {
    static func write(_ calls: [PushCall], _ database: any SQLConnection) throws {
        if calls.isEmpty { return }
        let confirmed = try Self.confirmed(calls, database)
        let messages = calls.filter { $0.end != .answered && confirmed.contains(Callee($0)) }
        if !messages.isEmpty {
            let texts = ["topic", "key", "brand_id"].map { SQLColumn($0, .text) }
            let numbers = ["account", "number", "brand_number", "sent_at", "expires"].map { SQLColumn($0, .integer) }
            _ = try database.insert(
                into: "push_message", texts + numbers + [SQLColumn("open", .boolean)], messages.map(row),
                "ON CONFLICT (account, topic, key) DO NOTHING")
        }
        try withdraw(calls.filter { $0.end != .missed }, database)
    }

    private struct Callee: Hashable {
        let account: AccountID
        let number: E164Number

        init(_ call: PushCall) { (account, number) = (call.account, call.called) }

        init?(_ row: SQLRow) {
            guard let number = E164Number("+\(row["number"] as Int64)") else { return nil }
            (account, self.number) = (AccountID(row: row["account"]), number)
        }
    }

    private static func row(_ call: PushCall) -> [SQLValue] {
        let topic = call.end == .missed ? PushTopic.missedCall : .callReturned
        return [
            .text(topic.rawValue), .text(call.call), .text(call.brandID), .integer(call.account.row),
            .integer(Int64(call.called.digits)), .integer(Int64(call.brandNumber.digits)), .integer(call.time),
            .integer(call.time + PushLimits.lifetime), .boolean(true),
        ]
    }

    /// The called numbers for which an operator has confirmed a device.
    private static func confirmed(_ calls: [PushCall], _ database: any SQLConnection) throws -> Set<Callee> {
        let asked = Set(calls.filter { $0.end != .answered }.map(Callee.init))
        if asked.isEmpty { return [] }
        let query = SQLListQuery(
            [SQLColumn("account", .integer), SQLColumn("number", .integer)],
            asked.map { [.integer($0.account.row), .integer(Int64($0.number.digits))] }
        ) { asked in
            """
            SELECT account, number FROM \(asked) WHERE EXISTS (SELECT 1 FROM push_number
                WHERE push_number.account = asked.account AND push_number.number = asked.number
                AND confirmed IS NOT NULL)
            """
        }
        return Set(try database.rows([query])[0].compactMap(Callee.init))
    }

    /// Withdraws messages about missed calls that were answered at another phone, or returned.
    private static func withdraw(_ calls: [PushCall], _ database: any SQLConnection) throws {
        if calls.isEmpty { return }
        let query = SQLListQuery(
            [SQLColumn("account", .integer), SQLColumn("call", .text), SQLColumn("time", .integer)],
            calls.map { [.integer($0.account.row), .text($0.call), .integer($0.time)] }
        ) { asked in
            """
            UPDATE push_message SET withdrawn = asked.time, open = TRUE FROM \(asked)
            WHERE push_message.account = asked.account AND topic = '\(PushTopic.missedCall.rawValue)'
            AND key = asked.call AND withdrawn IS NULL
            RETURNING id
            """
        }
        _ = try database.rows([query])
    }
}
