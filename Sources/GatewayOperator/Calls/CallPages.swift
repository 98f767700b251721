// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import HTTPTypes
import Primitives
import WebPages

/// The values of the list of calls.
struct CallsValues: Sendable {
    struct Option: Sendable {
        let value: String
        let label: String
        let isChosen: Bool
    }

    struct Row: Sendable {
        let path: String
        let time: String
        /// The time in UTC; nil where `time` is UTC.
        let utc: String?
        let isInbound: Bool
        let trunk: String
        /// Nil for a call without a customer.
        let customer: String?
        let caller: String
        let called: String
        let brand: String
        let hasBrand: Bool
        let decision: String
        /// The search with this decision in place of the chosen one.
        let decisionPath: String
        let outcome: String
        let tag: String
        let ring: String
        let talk: String
    }

    let number: String
    let name: String
    let brand: String
    let callID: String
    let provider: String
    let since: String
    let until: String
    /// The zone of the times that are typed without one.
    let zone: String
    let trunks: [Option]
    let customers: [Option]
    let hasCustomers: Bool
    let decisions: [Option]
    let reasons: [Option]
    let outcomes: [Option]
    let rows: [Row]
    /// The fields with a value, for a phone that shows the search folded; nil without one.
    let chosen: String?
    /// False for a search with a mistake, which has no calls.
    let isSearched: Bool
    let span: String
    /// The time since which calls were read, if older ones were not read in time.
    let readSince: String?
    let older: String?
    let latest: String?
    let csv: String
    let json: String
}

/// The search of a page: the query with its address.
struct CallsAddress {
    private var fields: [(field: CallQuery.Field, value: String)]

    init(_ page: PageRequest) {
        fields = CallQuery.Field.allCases.map { ($0, page.query(Substring($0.rawValue)) ?? "") }
    }

    var query: CallQuery {
        fields.reduce(into: CallQuery()) { query, part in query[part.field] = part.value }
    }

    /// The names of the fields with a value; nil without one.
    var chosen: String? {
        let chosen = fields.filter { !$0.value.isEmpty }.map(\.field)
        let names = chosen.map { $0 == .callID ? "Call-ID" : $0.rawValue }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    subscript(_ field: CallQuery.Field) -> String { fields.first { $0.field == field }?.value ?? "" }

    /// The address of the list with another decision, whatever the reason.
    func path(decision: String) -> String {
        var other = self
        other.fields = fields.map { part in
            switch part.field {
            case .decision: (part.field, decision)
            case .reason: (part.field, "")
            default: part
            }
        }
        return other.path("/calls")
    }

    /// The address of a list or an export with these fields.
    ///
    /// - Parameter row: only calls before this row.
    func path(_ path: String, before row: Int64? = nil) -> String {
        var parts = fields.filter { !$0.value.isEmpty }.map { "\($0.field.rawValue)=\(PagePath.encoded($0.value))" }
        if let row { parts.append("before=\(row)") }
        return parts.isEmpty ? path : path + "?" + parts.joined(separator: "&")
    }
}

// The list of calls and its exports.
extension GatewayPages {
    /// Days that a search without a begin covers: the ledger has no index of texts.
    static let usualDays: Int64 = 7
    /// Calls on one page.
    static let mostRows = 50

    func calls(_ page: PageRequest) async throws -> PageResult {
        let address = CallsAddress(page)
        let filter: CallFilter
        do throws(CallQueryProblem) {
            filter = try self.filter(of: address, before: page.query("before"))
        } catch {
            return list(CallSearch(), since: nil, address, page, problem: error)
        }
        let found = try await source.calls(filter, limit: Self.mostRows)
        let isNone = found.calls.isEmpty && found.rest == nil
        let unknown = isNone ? address.query.unknownName(in: source) : nil
        return list(found, since: filter.since, address, page, problem: unknown)
    }

    /// The calls of a search as a file, without a limit of rows that a page has.
    func export(_ format: CallExport.Format, _ page: PageRequest) throws -> PageResult {
        let filter: CallFilter
        do throws(CallQueryProblem) {
            filter = try self.filter(of: CallsAddress(page), before: nil)
        } catch {
            throw PageProblem(.badRequest, Self.text(of: error))
        }
        guard let slot = source.exports.open() else {
            throw PageProblem(
                .serviceUnavailable, "\(CallExports.most) exports run already. Wait until one of them has ended.")
        }
        var export = CallExport(
            source: source, filter: filter, format: format, limit: CallExport.most, zone: zone)
        if !page.showsNumbers, numbers != .full { export.shown = { shown($0, page) } }
        return .download(export.body(slot), type: format.contentType, name: "calls.\(format.rawValue)")
    }

    /// The filter of a search; without a begin that of the last days.
    private func filter(of address: CallsAddress, before row: String?) throws(CallQueryProblem) -> CallFilter {
        var filter = try address.query.filter(now: now(), in: zone)
        if filter.since == nil { filter.since = min(now(), filter.until ?? .max) - Self.usualDays * 86_400 }
        filter.before = row.flatMap { Int64($0) }
        return filter
    }

    private func list(
        _ found: CallSearch, since: Int64?, _ address: CallsAddress, _ page: PageRequest, problem: CallQueryProblem?
    ) -> PageResult {
        let (trunks, customers) = (source.trunkNames(), source.customerNames())
        let last = found.calls.count == Self.mostRows ? found.calls.last?.row : found.rest?.before
        let values = CallsValues(
            number: address[.number], name: address[.name], brand: address[.brand], callID: address[.callID],
            provider: address[.provider], since: address[.since], until: address[.until], zone: zone.name(at: now()),
            trunks: Self.options(Self.choices(trunks, address[.trunk], "trunk"), any: "any trunk", address[.trunk]),
            customers: Self.options(
                Self.choices(customers, address[.customer], "customer"), any: "any customer", address[.customer]),
            hasCustomers: !customers.isEmpty || found.calls.contains { $0.customer != nil },
            decisions: Self.options(Self.decisions, any: "any decision", address[.decision]),
            reasons: Self.options(
                CallQuery.reasons.map { ($0.name, $0.name) }, any: "any reason", address[.reason]),
            outcomes: Self.options(
                CallQuery.outcomes.map { ($0.lowercased(), $0 == "OPEN" ? "in progress" : $0) }, any: "any outcome",
                address[.outcome].lowercased()),
            rows: found.calls.map { row($0, address, page) }, chosen: address.chosen, isSearched: since != nil,
            span: since.map { "since \(zone.withUTC($0))" } ?? "",
            readSince: found.rest.map { zone.withUTC($0.readSince) },
            older: last.map { address.path("/calls", before: $0) },
            latest: page.query("before") == nil ? nil : address.path("/calls"),
            csv: address.path("/calls.csv"), json: address.path("/calls.jsonl"))
        return .page(
            template: "calls", title: "Calls", content: values, status: problem == nil ? .ok : .badRequest,
            notice: problem.map { PageNotice(.error, Self.text(of: $0)) })
    }

    private func row(_ call: LedgerCallRow, _ address: CallsAddress, _ page: PageRequest) -> CallsValues.Row {
        let (began, brand) = (call.inviteAt / 1_000_000, call.brandShown { shown($0, page) })
        return CallsValues.Row(
            path: "/calls/\(call.row)", time: zone.text(began), utc: zone.utc(beside: began),
            isInbound: call.direction == "inbound", trunk: call.trunk ?? "–", customer: call.customer,
            caller: call.callerShown { shown($0, page) } ?? "–",
            called: (call.destination ?? call.subscriber).map { shown($0, page) } ?? "–",
            brand: brand ?? "–", hasBrand: brand != nil, decision: call.decision,
            decisionPath: address.path(decision: call.decision), outcome: call.outcomeShown,
            tag: call.decision == "matched" ? "good" : "soft",
            ring: call.ringSeconds.map { "\($0) s" } ?? "–", talk: call.callSeconds.map { "\($0) s" } ?? "–")
    }

    private static let decisions = [
        ("branded", "with a brand"), ("unbranded", "without a brand"), ("outbound", "from the PBX"),
    ]

    /// The names of a list, and the chosen one if it was removed: its calls stay in the ledger.
    private static func choices(_ names: [String], _ chosen: String, _ kind: String) -> [(String, String)] {
        let removed = chosen.isEmpty || names.contains(chosen) ? [] : [(chosen, "\(chosen) (no \(kind) now)")]
        return removed + names.map { ($0, $0) }
    }

    /// The options of a list; a chosen value of an address that the list lacks is one too.
    private static func options(_ values: [(String, String)], any: String, _ chosen: String) -> [CallsValues.Option] {
        let others = chosen.isEmpty || values.contains { $0.0 == chosen } ? [] : [(chosen, chosen)]
        return ([("", any)] + values + others).map { value, label in
            CallsValues.Option(value: value, label: label, isChosen: value == chosen)
        }
    }

    private static let labels: [CallQuery.Field: String] = [
        .callID: "Call-ID", .provider: "Signing provider",
    ]

    /// A problem with the label of its field.
    private static func text(of problem: CallQueryProblem) -> String {
        let field = problem.field.rawValue
        let name = labels[problem.field] ?? field.prefix(1).uppercased() + field.dropFirst()
        return "\(name) \(problem.text)."
    }
}
