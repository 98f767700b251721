// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// A column of the table `call`, with all that is known of it.
///
/// From `all` come the table of a new file and that of the shared ledger, the statements that write a call, the record of a stored
/// call, and the fields of JSON and CSV.
package struct CallColumn: Sendable {
    /// The values of a column; a time is microseconds since 1970.
    enum Kind { case integer, time, text }

    /// A call while its row is written.
    struct Written {
        let call: LedgerCall
        let record: CallRecord
        /// The first name under which it may be returned; nil for a call that cannot be returned.
        let subscriberKey: String?

        /// True for a call with a row in `call_signature`.
        var isSigned: Bool { record.trust != nil || record.provider != nil || record.signer != nil }

        /// True if no rare column has a value.
        var isUsual: Bool { record.isUsual && call.continuedAs == nil }
    }

    /// Changes of a call that write a column again; its first row has all columns.
    struct Changes: OptionSet, Sendable {
        let rawValue: UInt8

        /// Any change, the end, another time of the INVITE, other called parties or another decision, a late report after
        /// the end.
        static let progress = Changes(rawValue: 1)
        static let end = Changes(rawValue: 2)
        static let time = Changes(rawValue: 4)
        static let parties = Changes(rawValue: 8)
        static let correction = Changes(rawValue: 16)
        /// The return of the call, which has statements of its own.
        static let returned = Changes(rawValue: 32)
        static let seen: Changes = [.progress, .correction]
    }

    /// Binds the value of a call to a parameter.
    typealias Binding = @Sendable (Written, LedgerStatement.Parameter) -> Void
    /// Puts a stored value into a record.
    typealias Setter = @Sendable (inout CallRecord, ColumnValue) -> Void
    /// The steps that add a column to older files and to the shared ledger; 1 for a column of its first tables.
    typealias Added = (file: String, shared: Int)

    package let name: String
    let kind: Kind
    /// The constraint in a file.
    private let constraint: String
    let changes: Changes
    /// Few calls have a value; `Written.isUsual` knows which. The row of another call begins without the column.
    let isRare: Bool
    let bind: Binding
    /// Nil for columns with which a record begins, and for those of the row alone.
    let set: Setter?
    /// Its fields in JSON and CSV; mostly one.
    package let fields: [CallField]
    let added: Added?

    private init(
        _ name: String, _ kind: Kind, _ constraint: String = "", shown: CallField.Form? = .stored,
        on changes: Changes = [], isRare: Bool = false, added: Added? = nil, bind: @escaping Binding = { _, _ in },
        set: Setter? = nil
    ) {
        (self.name, self.kind, self.constraint, self.changes) = (name, kind, constraint, changes)
        (self.isRare, self.added, self.bind, self.set) = (isRare, added, bind, set)
        fields = shown.map { CallField.fields(name, kind, $0) } ?? []
    }
}

extension CallColumn {
    /// All columns in the order of a file; a new one is the last.
    package static let all: [CallColumn] = [
        .init("id", .integer, "PRIMARY KEY", shown: nil) { $1($0.call.row) },
        .init("call_id", .text, "NOT NULL") { $1($0.call.callID) },
        .init("sip_call_id", .text, "NOT NULL") { $1($0.record.sipCallID) },
        .init("direction", .integer, "NOT NULL", shown: .made { .text($0.direction) }) {
            $1(Int64($0.record.direction.rawValue))
        },
        .init("trunk", .text) { $1($0.record.trunk) },
        .init("caller", .integer, shown: .made { .text($0.caller) }) { $1(digits($0.record.caller)) },
        .init("destination", .integer, shown: .made { .text($0.destination) }, on: .parties) {
            $1(digits($0.record.destination))
        },
        .init("subscriber", .text, on: .parties) { $1(filled($0.record.subscriber)) },
        .init("subscriber_key", .text, shown: nil, on: .end) { $1($0.subscriberKey) },
        .init("brand_id", .text, on: .parties) { $1($0.record.brandID) },
        .init("brand_name", .text, on: .parties) { $1($0.record.brandName) },
        .init("carrier_name", .text, on: .parties) { $1($0.record.carrierName) },
        .init("decision", .text, "NOT NULL", on: .parties) { $1($0.record.decision) },
        .init("invite_at", .time, "NOT NULL", on: .time) { $1($0.record.inviteAt) },
        .init("progress_at", .time, on: .seen, bind: { $1($0.record.progressAt) }, set: { $0.progressAt = $1.integer }),
        .init("ringing_at", .time, on: .seen, bind: { $1($0.record.ringingAt) }, set: { $0.ringingAt = $1.integer }),
        .init("answered_at", .time, on: .seen, bind: { $1($0.record.answeredAt) }, set: { $0.answeredAt = $1.integer }),
        .init(
            "cancelled_at", .time, on: .progress, bind: { $1($0.record.cancelledAt) },
            set: { $0.cancelledAt = $1.integer }),
        .init("ended_at", .time, on: .end, bind: { $1($0.record.endedAt) }, set: { $0.endedAt = $1.integer }),
        .init(
            "refused_at", .time, shown: nil, on: .progress, isRare: true, bind: { $1($0.record.refusedAt) },
            set: { $0.refusedAt = $1.integer }),
        .init(
            "status", .integer, shown: .named("sip_status"), on: .progress, bind: { $1(filled($0.record.status)) },
            set: { $0.status = code($1) }),
        .init(
            "q850", .integer, shown: .named("q850_cause"), on: .progress, bind: { $1(filled($0.record.q850Cause)) },
            set: { $0.q850Cause = code($1) }),
        .init(
            "sip_cause", .integer, shown: nil, on: .progress, isRare: true, bind: { $1(filled($0.record.sipCause)) },
            set: { $0.sipCause = code($1) }),
        .init(
            "attempts", .integer, "NOT NULL DEFAULT 1", on: .progress, bind: { $1(Int64($0.record.attempts)) },
            set: { $0.attempts = Int($1.integer ?? 1) }),
        .init(
            "outcome", .text, on: .end, bind: { $1($0.record.outcome?.rawValue) },
            set: { $0.outcome = $1.text.flatMap(CallOutcome.init(rawValue:)) }),
        .init("ring_seconds", .integer, on: [.end, .correction]) {
            $1($0.record.endedAt == nil ? nil : $0.record.ringSeconds.map(Int64.init))
        },
        .init("call_seconds", .integer, on: [.end, .correction]) { $1($0.record.callSeconds.map(Int64.init)) },
        .init("shown_event", .integer, shown: nil, on: .seen) { $1($0.call.shownEvent) },
        .init("end_event", .integer, shown: nil, on: .end) { $1($0.call.endEvent) },
        .init("return_event", .integer, shown: nil, on: .returned),
        .init("returnable", .integer, "NOT NULL DEFAULT 0", shown: nil, on: .end) {
            $1($0.subscriberKey == nil ? 0 : 1)
        },
        .init("returned_at", .time, on: .returned),
        .init(
            "forwarded", .integer, shown: .made { .flag($0.isForwarded) }, on: .seen, isRare: true,
            bind: { $1($0.record.isForwarded ? 1 : nil) }, set: { $0.isForwarded = $1.integer == 1 }),
        .init(
            "answered_by", .text, shown: .made { .text($0.answeredBy) }, on: .seen, isRare: true,
            bind: { $1($0.record.machine?.rawValue) },
            set: { $0.machine = $1.text.flatMap(CallAnswerer.init(rawValue:)) }),
        .init(
            "session_until", .time, shown: nil, on: .progress, bind: { $1($0.record.sessionUntil) },
            set: { $0.sessionUntil = $1.integer }),
        .init(
            "attempt_call_id", .text, shown: nil, on: .progress, isRare: true,
            bind: { $1($0.record.attempt?.call.description) },
            set: { $0.attempt = $1.text.flatMap { CallIdentifier($0) }.map { ($0, "") } }),
        .init(
            "attempt_sip_call_id", .text, shown: .named("latest_sip_call_id"), on: .progress, isRare: true,
            bind: { $1($0.record.attempt.flatMap { filled($0.sipCallID) }) },
            set: { $0.attempt?.sipCallID = $1.text ?? "" }),
        .init("end_clock", .integer, shown: nil, on: .end) { $1($0.call.endClock) },
        .init(
            "caller_received", .text, isRare: true, bind: { $1($0.record.callerReceived) },
            set: { $0.callerReceived = $1.text }),
        .init(
            "evidence", .integer, shown: nil, on: .parties, added: ("ledger evidence of decisions", 1),
            bind: { $1($0.record.evidence.map { Int64($0.rawValue) }) },
            set: { $0.evidence = DecisionEvidence(stored: $1.integer) }),
        .init("customer", .text, added: ("ledger customers", 1)) { $1($0.record.customer) },
        .init(
            "attempt_at", .time, shown: nil, on: .progress, isRare: true, added: ("ledger redials over gateways", 4),
            bind: { $1($0.record.attemptAt) }, set: { $0.attemptAt = $1.integer }),
        .init("continued_as", .text, shown: nil, on: .end, isRare: true, added: ("ledger redials over gateways", 4)) {
            $1($0.call.continuedAs?.description)
        },
        .init(
            "earlier_attempts", .text, shown: nil, on: .progress, isRare: true,
            added: ("ledger redials over gateways", 4),
            bind: { $1(names($0.record.earlierAttempts)) },
            set: {
                $0.earlierAttempts = ($1.text ?? "").split(separator: " ").compactMap { CallIdentifier(String($0)) }
            }),
        .init(
            "also_called", .text, shown: .made { .list($0.alsoCalled) }, on: .parties, isRare: true,
            added: ("ledger called parties", 7), bind: { $1(CalledParty.stored($0.record.alsoCalled)) },
            set: { $0.alsoCalled = CalledParty.parties(stored: $1.text) }),
        .init(
            "trust", .integer, shown: .parts(CallField.verdict), isRare: true, added: signed,
            bind: { $1($0.record.trust.map { Int64($0.facts) }) },
            set: { $0.trust = TrustEvidence(stored: $1.integer) }),
        .init(
            "trust_causes", .integer, shown: .parts(CallField.causes), isRare: true, added: signed,
            bind: { $1($0.record.trust.map { Int64(bitPattern: $0.packedCauses) }) },
            set: { $0.trust?.packedCauses = UInt64(bitPattern: $1.integer ?? 0) }),
        .init(
            "signature_code", .integer, isRare: true, added: signed,
            bind: { $1($0.record.trust.flatMap { filled($0.code) }) }, set: { $0.trust?.code = code($1) }),
        .init(
            "origid", .text, isRare: true, added: signed, bind: { $1($0.record.trust?.origid?.description) },
            set: { $0.trust?.origid = $1.text.flatMap { CallIdentifier($0) } }),
        .init(
            "provider", .text, isRare: true, added: signed, bind: { $1($0.record.provider) },
            set: { $0.provider = $1.text }),
        .init(
            "signer", .text, isRare: true, added: signed, bind: { $1($0.record.signer) },
            set: { $0.signer = $1.text }),
    ]

    private static let signed: Added = ("ledger signatures of calls", 9)

    /// Whether the value is in the table `call_signature`, which has a row for signed calls alone.
    var isOfSignature: Bool { added?.file == Self.signed.file }

    /// The columns of the table `call`.
    static let own = all.filter { !$0.isOfSignature }
    static let ofSignature = all.filter(\.isOfSignature)

    /// All columns of calls in one table, for queries.
    static let source = "call LEFT JOIN call_signature ON call_signature.call = call.id"

    /// The column in the SQL of a file.
    private var declaration: String {
        "\(name) \(kind == .text ? "TEXT" : "INTEGER")\(constraint.isEmpty ? "" : " " + constraint)"
    }

    /// The verdicts on signed calls; a change of another call would write each of these columns again.
    static let signatureTable = """
        CREATE TABLE call_signature (
            call INTEGER PRIMARY KEY,
            \(ofSignature.map(\.declaration).joined(separator: ",\n    "))
        );

        """

    /// The table of a new file.
    static let table = "CREATE TABLE call (\n    \(own.map(\.declaration).joined(separator: ",\n    "))\n);"

    /// The statements that a step of older files adds its columns with.
    static func additions(in step: String) -> String {
        own.filter { $0.added?.file == step }.map { "ALTER TABLE call ADD COLUMN \($0.declaration);\n" }.joined()
    }

    private static func digits(_ number: E164Number?) -> Int64? { number.map { Int64($0.digits) } }

    private static func names(_ calls: [CallIdentifier]) -> String? {
        calls.isEmpty ? nil : calls.map(\.description).joined(separator: " ")
    }

    private static func filled(_ text: String) -> String? { text.isEmpty ? nil : text }

    private static func filled(_ code: UInt16) -> Int64? { code == 0 ? nil : Int64(code) }

    private static func code(_ stored: ColumnValue) -> UInt16 { stored.integer.flatMap(UInt16.init(exactly:)) ?? 0 }
}

/// A field of a call in JSON and CSV.
package struct CallField: Sendable {
    /// The value of a field; nil for an unknown one. A time is microseconds since 1970.
    package enum Value: Sendable {
        case text(String?)
        case integer(Int64?)
        case flag(Bool?)
        case time(Int64?)
        case list([String]?)
    }

    /// The field of a column: its stored value, the same under another name, a value that is made of the row, or several.
    enum Form {
        case stored
        case named(String)
        case made(@Sendable (LedgerCallRow) -> Value)
        case parts([CallField])
    }

    package let name: String
    package let value: @Sendable (LedgerCallRow) -> Value

    package init(_ name: String, _ value: @escaping @Sendable (LedgerCallRow) -> Value) {
        (self.name, self.value) = (name, value)
    }

    static func fields(_ column: String, _ kind: CallColumn.Kind, _ form: Form) -> [CallField] {
        switch form {
        case .made(let value): [CallField(column, value)]
        case .named(let name): [CallField(name, of: column, kind)]
        case .stored: [CallField(column, of: column, kind)]
        case .parts(let fields): fields
        }
    }

    /// The stored value of a column.
    private init(_ name: String, of column: String, _ kind: CallColumn.Kind) {
        switch kind {
        case .integer: self.init(name) { .integer($0.integer(column)) }
        case .time: self.init(name) { .time($0.integer(column)) }
        case .text: self.init(name) { .text($0.text(column)) }
        }
    }
}
