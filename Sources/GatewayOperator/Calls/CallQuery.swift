// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import Foundation
package import GatewayStore
package import Primitives

/// The filter of calls that `herald calls`, the page `/calls` and `GET /v1/calls` share, as people write it.
package struct CallQuery: Hashable, Sendable {
    /// The parts of the filter; the raw value is the parameter of an address, with dashes it is the option of the command.
    package enum Field: String, CaseIterable, Sendable {
        /// `branded`, `unbranded`, or a reason.
        case decision
        /// A reason for a call without a brand, or `gated` for those of all gates.
        case reason
        /// An outcome, or `open` for calls in progress; upper or lower case.
        case outcome
        /// The brand by its identifier or its whole name.
        case brand
        case trunk, customer
        /// Number of the caller or the callee: in E.164 or national form, its last digits, or what the carrier wrote.
        case number
        /// A part of the brand's or the carrier's display name.
        case name
        /// A part of a SIP Call-ID or call id.
        case callID = "call_id"
        /// The provider code of the signer, or the first number of its certificate.
        case provider
        /// The first and the last time of the INVITE, as `TimeWord` reads them.
        case since, until

        /// The option of `herald calls`.
        package var option: String { "--" + rawValue.replacing("_", with: "-") }

        /// The largest size of a value in bytes.
        fileprivate var limit: Int { self == .number ? 64 : 256 }
    }

    private var values: [Field: String] = [:]

    /// Selects all calls.
    package init() {}

    /// The value of a part; nil selects any, as an empty one does.
    package subscript(_ field: Field) -> String? {
        get { values[field] }
        set { values[field] = newValue.flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// Reads all parts at this moment.
    ///
    /// - Throws: the first part that cannot be read, with what it accepts.
    package func check() throws(CallQueryProblem) {
        _ = try filter(now: Int64(Date().timeIntervalSince1970), in: .ofProcess)
    }

    /// The query in the form of the ledger.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: the first part that cannot be read, with what it accepts.
    package func filter(now: Int64, in zone: LocalZone) throws(CallQueryProblem) -> CallFilter {
        for field in Field.allCases {
            guard let value = values[field] else { continue }
            guard value.utf8.count <= field.limit else { throw problem(field, "is longer than \(field.limit) bytes") }
        }
        var filter = CallFilter()
        filter.decisions = try decisions()
        filter.outcome = try outcome()
        filter.brand = self[.brand]
        filter.trunk = self[.trunk]
        filter.customer = self[.customer]
        if let number = self[.number] { filter.setNumber(asWritten: number) }
        filter.name = self[.name]
        filter.callIDPart = self[.callID]
        filter.provider = self[.provider]
        let since = try time(.since, now, zone)
        filter.since = since?.first
        filter.until = try time(.until, now, zone)?.last
        if let since = filter.since, let until = filter.until, until < since {
            throw problem(.until, "ends before \(zone.text(since)), where the time begins")
        }
        return filter
    }

    /// The decisions as the ledger spells them; nil for all.
    private func decisions() throws(CallQueryProblem) -> Set<String>? {
        let decision = try chosen(.decision, among: Self.decisions)
        let reason = try chosen(.reason, among: Self.reasons)
        guard let decision, let reason else { return decision ?? reason }
        let both = decision.intersection(reason)
        guard !both.isEmpty else {
            throw problem(.reason, "is the reason of no call with the decision \"\(shown(.decision))\"")
        }
        return both
    }

    private func outcome() throws(CallQueryProblem) -> String? {
        let outcomes = Self.outcomes.map { Choice(name: $0.lowercased(), values: [$0]) }
        return try chosen(.outcome, among: outcomes)?.first
    }

    /// The outcomes, and `OPEN` for calls in progress.
    static let outcomes = ["OPEN"] + CallOutcome.allCases.map(\.rawValue)

    /// A value of a part, and what the ledger has of the calls that it selects.
    struct Choice: Sendable {
        let name: String
        let values: Set<String>
    }

    /// The values of `reason`.
    static let reasons: [Choice] = {
        let gates = PassThroughReason.allCases.filter(\.isGate).map(\.description)
        let single = PassThroughReason.allCases.map { Choice(name: $0.description, values: [$0.description]) }
        return [Choice(name: "gated", values: Set(gates))] + single
    }()

    /// The values of `decision`: all that lists of calls show, and the two groups of calls from trunks.
    static let decisions: [Choice] = {
        let ofTrunks = PassThroughReason.allCases.filter { $0 != .outbound }.map(\.description)
        let groups = [
            Choice(name: "branded", values: ["matched"]), Choice(name: "unbranded", values: Set(ofTrunks)),
            Choice(name: "matched", values: ["matched"]),
        ]
        return groups + reasons
    }()

    /// The values behind a name of a list; dashes and capital letters do not matter.
    private func chosen(_ field: Field, among known: [Choice]) throws(CallQueryProblem) -> Set<String>? {
        guard let value = self[field] else { return nil }
        let name = value.lowercased().replacing("-", with: "_")
        if let found = known.first(where: { $0.name == name }) { return found.values }
        let names = known.map(\.name)
        throw problem(
            field, "is unknown\(NearestName.hint(name, among: names)); give \(names.joined(separator: ", "))")
    }

    private func time(_ field: Field, _ now: Int64, _ zone: LocalZone) throws(CallQueryProblem) -> TimeWord? {
        guard let text = self[field] else { return nil }
        guard let time = TimeWord(text, now: now, in: zone) else {
            throw problem(field, TimeWord.problem(of: shown(field)))
        }
        return time
    }

    /// Why a query has found no call, if it names a trunk or a customer that does not exist.
    ///
    /// The calls of a removed trunk or customer stay in the ledger, so an unknown name is no problem by itself.
    ///
    /// - Parameter source: knows the configured trunks and customers.
    func unknownName(in source: any CallSource) -> CallQueryProblem? {
        unknownName(trunks: source.trunkNames(), customers: KnownCustomers(source.customerNames()))
    }

    /// The same for a command.
    func unknownName(trunks: [String], customers: KnownCustomers) -> CallQueryProblem? {
        if let name = self[.trunk], !trunks.contains(name) {
            return problem(
                .trunk,
                "selects no call: no trunk has this name\(NearestName.hint(name, among: trunks))"
                    + "; there are \(trunks.sorted().joined(separator: ", "))")
        }
        return self[.customer].flatMap { customers.problem(of: $0) }.map {
            problem(.customer, "selects no call: \($0)")
        }
    }

    private func problem(_ field: Field, _ text: String) -> CallQueryProblem {
        CallQueryProblem(field: field, text: "\"\(shown(field))\" \(text)")
    }

    /// A value for an error: foreign text of any length.
    private func shown(_ field: Field) -> String {
        let value = self[field] ?? ""
        return TerminalText.visible(value.count > 64 ? String(value.prefix(64)) + "…" : value)
    }
}

/// A part of a query that cannot be read.
package struct CallQueryProblem: Error, Hashable, Sendable {
    package let field: CallQuery.Field
    /// The value, what is wrong with it, and what is accepted.
    let text: String

    /// The problem of an option of `herald calls`.
    package var ofOption: String { "\(field.option) \(text)" }

    /// The problem of a parameter of an address.
    var ofParameter: String { "\(field.rawValue) \(text)" }
}

extension CallFilter {
    /// Selects a caller or called number as people write it, such as +49 (89) 123-456, or by its last digits.
    mutating func setNumber(asWritten text: String) {
        let written = text.filter { !" ()-./".contains($0) }
        number = E164Number(written)
        received = text
        // Fewer than three digits are the end of too many numbers.
        if number == nil { numberEnd = Self.lastDigits(written) }
    }

    /// The digits of a number without its prefix for long distance or other countries; nil for other texts.
    ///
    /// Zeros at the begin stay where the rest would be too short, because they may be digits within a number.
    private static func lastDigits(_ text: String) -> String? {
        let fewest = 3
        guard text.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "+" }) else { return nil }
        let digits = text.filter(\.isNumber)
        let significant = digits.drop { $0 == "0" }
        if significant.count > fewest { return String(significant) }
        return digits.count < fewest ? nil : digits
    }
}
