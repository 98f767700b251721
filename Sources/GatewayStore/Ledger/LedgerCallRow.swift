// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
import GRDB

/// The row of a call, in this ledger or in another one; times in microseconds since 1970.
///
/// Texts come from the wire: escape them before they reach a terminal.
package struct LedgerCallRow: Hashable, Sendable {
    /// In the order of `CallColumn.all`.
    let values: [ColumnValue]
    /// The gateway of the call, in rows of the shared ledger.
    package var node: String?
    /// The permanent address of the call's page, for a reader who set one.
    package var link: String?
    /// Its events in order: display, end, return.
    ///
    /// A return is an event of both of its calls.
    package fileprivate(set) var events: [LedgerEventRow]

    /// A row without its events.
    init(row: Row) {
        self.init { $0.kind == .text ? .text(row[$0.name]) : .integer(row[$0.name]) }
    }

    /// A call of the shared ledger, by the columns of `SharedTable.call`.
    package init(shared values: [String: ColumnValue], node: String, events: [LedgerEventRow]) {
        self.init(node: node, events: events) { values[$0.name] ?? .integer(nil) }
    }

    init(node: String? = nil, events: [LedgerEventRow] = [], _ value: (CallColumn) -> ColumnValue) {
        (self.node, self.events) = (node, events)
        values = CallColumn.all.map(value)
    }

    private static let places = Dictionary(
        uniqueKeysWithValues: CallColumn.all.enumerated().map { ($1.name, $0) })

    /// The value of a column; nil for null.
    package func integer(_ column: String) -> Int64? { Self.places[column].flatMap { values[$0].integer } }

    /// The text of a column; nil for null.
    package func text(_ column: String) -> String? { Self.places[column].flatMap { values[$0].text } }
}

extension LedgerCallRow {
    /// The rows of its events in order.
    var eventRows: [Int64] {
        [integer("shown_event"), integer("end_event"), integer("return_event")].compactMap { $0 }
    }
}

extension [LedgerCallRow] {
    /// Gives each call its events, of some by their rows.
    mutating func takeEvents(from events: [Int64: LedgerEventRow]) {
        for place in indices { self[place].events = self[place].eventRows.compactMap { events[$0] } }
    }
}

// The columns that listings and the story of a call name.
extension LedgerCallRow {
    /// The row in the ledger; later calls have higher ones.
    package var row: Int64 { integer("id") ?? 0 }
    package var callID: String { text("call_id") ?? "" }
    package var sipCallID: String { text("sip_call_id") ?? "" }
    /// `inbound` or `outbound`.
    package var direction: String { integer("direction") == 1 ? "inbound" : "outbound" }
    package var trunk: String? { text("trunk") }
    /// Nil without customers.
    package var customer: String? { text("customer") }
    /// With plus sign; nil when withheld or unclear.
    package var caller: String? { integer("caller").map { "+\($0)" } }
    /// The caller as the carrier wrote it, if that is no certain number; nil when withheld.
    package var callerReceived: String? { text("caller_received") }
    package var destination: String? { integer("destination").map { "+\($0)" } }
    package var subscriber: String? { text("subscriber") }
    /// Further numbers or users that the carrier rang under the same Call-ID; nil for none.
    package var alsoCalled: [String]? { text("also_called").map { CalledParty.parties(stored: $0).map(\.name) } }
    package var brandID: String? { text("brand_id") }
    package var brandName: String? { text("brand_name") }
    /// The carrier's name that the brand's name replaced.
    package var carrierName: String? { text("carrier_name") }
    /// `matched`, or the reason for a call without a brand.
    package var decision: String { text("decision") ?? "" }
    /// The findings behind the decision; nil for outbound calls and calls of an earlier version.
    package var evidence: DecisionEvidence? { DecisionEvidence(stored: integer("evidence")) }
    /// The verdict on the signed header fields, without the row of the signer; nil for a call without one.
    package var trust: TrustEvidence? {
        var trust = TrustEvidence(stored: integer("trust"))
        trust?.packedCauses = UInt64(bitPattern: integer("trust_causes") ?? 0)
        trust?.code = integer("signature_code").flatMap(UInt16.init(exactly:)) ?? 0
        trust?.origid = text("origid").flatMap { CallIdentifier($0) }
        return trust
    }
    /// The first provider code of the signer's certificate, else its first number; nil for none.
    package var provider: String? { text("provider") }
    /// The subject of the signer's certificate; nil for an unknown signer.
    package var signer: String? { text("signer") }
    package var inviteAt: Int64 { integer("invite_at") ?? 0 }
    package var progressAt: Int64? { integer("progress_at") }
    package var ringingAt: Int64? { integer("ringing_at") }
    package var answeredAt: Int64? { integer("answered_at") }
    package var cancelledAt: Int64? { integer("cancelled_at") }
    /// Time of a rejection that may bring another attempt; nil after that attempt or the end of the call.
    package var refusedAt: Int64? { integer("refused_at") }
    package var endedAt: Int64? { integer("ended_at") }
    package var status: Int? { integer("status").map(Int.init) }
    package var q850Cause: Int? { integer("q850").map(Int.init) }
    package var attempts: Int { Int(integer("attempts") ?? 1) }
    /// The SIP Call-ID of the latest attempt, if it differs from the first.
    package var latestSIPCallID: String? { text("attempt_sip_call_id") }
    /// The call as which another gateway goes on with this one after another attempt; nil otherwise.
    package var continuedAs: String? { text("continued_as") }
    /// True for a forwarded call.
    package var isForwarded: Bool { integer("forwarded") == 1 }
    /// `voicemail` or `system`; nil for a person and without a 2xx.
    package var answeredBy: String? { answeredAt == nil ? nil : text("answered_by") }
    /// Nil while the call is in progress.
    package var outcome: String? { text("outcome") }
    package var ringSeconds: Int? { integer("ring_seconds").map(Int.init) }
    package var callSeconds: Int? { integer("call_seconds").map(Int.init) }
    /// Time of the subscriber's call back; nil for none.
    package var returnedAt: Int64? { integer("returned_at") }
}

extension LedgerCallRow {
    /// All columns of `call`, as `init(_:)` reads them.
    static let columns = CallColumn.all.map(\.name).joined(separator: ", ")

    /// A row of this ledger that was read with `columns`.
    init(_ row: LedgerRow) {
        var place: CInt = -1
        self.init { column in
            place += 1
            return column.kind == .text ? .text(row.text(place)) : .integer(row.integer(place))
        }
    }

    /// Difference of two clocks from which on times move; below it, they stay as they are.
    private static let leastOffset: Int64 = 1_000_000

    /// A row of another gateway, with its times by this gateway's clock.
    init(_ row: ForeignRow) {
        let offset = abs(row.clockOffset) >= Self.leastOffset ? row.clockOffset : 0
        self.init { column in
            guard column.kind == .time else { return row.values[column.name] ?? .integer(nil) }
            return .integer(row.integer(column.name).map { $0 &- offset })
        }
    }

    /// The record of the call; nil for a row that no gateway wrote.
    package var record: CallRecord? {
        guard let call = text("call_id").flatMap({ CallIdentifier($0) }),
            let direction = integer("direction").flatMap(UInt8.init(exactly:)).flatMap(
                CallUpdate.Direction.init(rawValue:))
        else { return nil }
        var record = CallRecord(
            call: call, direction: direction, sipCallID: sipCallID, trunk: trunk,
            caller: Self.number(integer("caller")), destination: Self.number(integer("destination")),
            subscriber: subscriber ?? "", brandID: brandID, brandName: brandName, carrierName: carrierName,
            customer: customer, reason: CallRecord.reason(ofDecision: decision), inviteAt: inviteAt)
        for (column, value) in zip(CallColumn.all, values) { column.set?(&record, value) }
        // The columns of an end show whether it was seen or assumed.
        if endedAt != nil {
            record.endIsKnown =
                answeredAt != nil ? callSeconds != nil : cancelledAt != nil || record.status >= 300
        }
        return record
    }

    static func number(_ digits: Int64?) -> E164Number? {
        digits.flatMap(UInt64.init(exactly:)).flatMap(E164Number.init(digits:))
    }
}

extension TrustEvidence {
    /// The facts of a verdict; nil for none, and for those of another program.
    init?(stored: Int64?) {
        guard let facts = stored.flatMap(UInt32.init(exactly:)) else { return nil }
        self.init(facts: facts, causes: 0)
    }
}

extension DecisionEvidence {
    /// Nil for none, and for that of another program.
    init?(stored: Int64?) {
        guard let bits = stored.flatMap(UInt32.init(exactly:)) else { return nil }
        self.init(rawValue: bits)
    }
}
