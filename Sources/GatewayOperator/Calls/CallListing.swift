// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallPath
package import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import Host
package import Primitives
import SIPCore
import UnixSignals

/// `herald calls list` and `herald calls show`: lists calls of the ledger, follows those that end, counts them, or prints the story of one call.
package struct CallListing {
    /// The order of the command.
    package struct Order: Sendable {
        package var query = CallQuery()
        /// Largest number of calls, the latest ones; nil for the usual number.
        package var limit: Int?
        package var output = CallsOutput.table

        package init() {}
    }

    /// Calls of a list without `--limit`.
    package static let usualLimit = 20
    /// Calls that are read and written at once.
    private static let page = 500

    private let reader: LedgerReader
    private let shared: SharedCalls?
    private let order: Order
    private let filter: CallFilter
    private let zone: LocalZone
    private let configuration: HeraldConfiguration
    /// Nil if the command may not read it: calls of withheld callers are then not found by their Call-ID.
    private let secret: Secret?
    private let links: CallLinks

    /// Opens the ledger for reading, beside a running gateway.
    ///
    /// - Parameter now: seconds since 1970; nil for the time of the machine.
    /// - Throws: `CommandFailure` when the ledger cannot be read, and for a part of the query that cannot be read.
    package init(
        _ configuration: HeraldConfiguration, _ order: Order, shared: SharedCalls? = nil,
        now: Int64? = nil, zone: LocalZone = .ofProcess
    ) throws {
        (self.configuration, self.order, self.shared, self.zone) = (configuration, order, shared, zone)
        do throws(CallQueryProblem) {
            filter = try order.query.filter(now: now ?? Int64(Date().timeIntervalSince1970), in: zone)
        } catch {
            throw CommandFailure(error.ofOption)
        }
        reader = try CommandFailure.reported {
            LedgerReader(try HeraldDatabase.ledgerReader(folder: configuration.state))
        }
        secret = configuration.storedSecret
        links = CallLinks(configuration)
    }

    /// Writes the selected calls, the newest last.
    package func list() throws {
        var writer = writer
        let limit = order.limit ?? Self.usualLimit
        let count: Int
        if shared == nil, !order.output.isTable, filter.callIDPart == nil {
            count = try stream(limit, to: &writer)
        } else {
            let calls = try read(filter, limit: limit)
            count = calls.count
            if calls.isEmpty, order.output.isTable {
                Output.write("no calls\n")
            } else {
                try writer.write(calls.reversed())
            }
        }
        if count == 0 { try checkNames() }
        if count == limit, order.limit == nil, order.query != CallQuery() {
            Output.warn("the newest \(limit) calls are listed; --limit N lists up to N")
        }
    }

    /// Writes the selected calls that have ended, then each call when it ends, until SIGINT or SIGTERM.
    package func follow() async throws {
        // Opened before the list, so that a call that ends between the two is not missed.
        let follower = try CommandFailure.reported { try CallFollower(reader, filter) }
        var writer = writer
        let ended = try read(filter, limit: order.limit ?? Self.usualLimit).reversed().filter { $0.outcome != nil }
        try writer.write(ended)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await firstOf(
            { for await _ in signals { return } },
            { [writer] in
                var (follower, writer) = (follower, writer)
                while true {
                    try await Task.sleep(for: .milliseconds(500))
                    let ended = try CommandFailure.reported { try follower.next() }
                    if !ended.isEmpty { try writer.write(ended) }
                }
            })
    }

    /// Writes numbers of the selected calls by decision, reason and outcome.
    package func summarise() throws {
        if configuration.cluster?.ledger != nil {
            Output.warn("the summary has the calls of this gateway alone; the view ledger.calls has those of all")
        }
        let counts = try CommandFailure.reported { try reader.counts(matching: filter) }
        let summary = CallSummary(counts, since: filter.since, zone: zone)
        if order.output == .json { try Output.write(json: summary.json) } else { Output.write(summary.text) }
        if summary.total == nil { try checkNames() }
    }

    /// Writes the story of every call with a Call-ID.
    ///
    /// - Parameter callID: a SIP Call-ID or call id, or a part of one call's.
    /// - Throws: `CommandFailure` when the ledger has no such call.
    package func show(_ callID: String) throws {
        let calls = try found(callID)
        for (place, call) in calls.map(links.linked).enumerated() {
            let brand = PresentBrand(of: call, stored: configuration)
            if order.output == .json {
                try Output.write(json: call.json(in: zone).merging(call.storyJSON(brand)) { own, _ in own })
            } else {
                let story = CallStoryText(call: call, brand: brand, zone: zone, isColoured: Output.takesColour)
                Output.write((place == 0 ? "" : "\n") + story.text)
            }
        }
    }

    /// Writes the card of the one call with a Call-ID.
    ///
    /// - Parameters:
    ///   - family: the callee's phones; nil lists all families.
    ///   - withCallee: shows the callee's number in full.
    /// - Throws: `CommandFailure` when the ledger has no such call, or several.
    package func showCard(
        _ callID: String, _ form: WhyCardForm, family: PhoneDisplay?, withCallee: Bool
    ) throws {
        let calls = try found(callID)
        guard let call = calls.first, calls.count == 1 else {
            throw CommandFailure(
                "\(calls.count) calls have the Call-ID \(TerminalText.visible(callID)); give the call id of one of them"
            )
        }
        let brand = PresentBrand(of: call, stored: configuration)
        let card = WhyCard(
            call, brand, picture: picture(of: brand, call), family: family,
            numbers: withCallee ? .all : .withoutCallee, zone: zone)
        Output.write(form == .html ? WhyCardHTML(card: card).text : WhyCardText(card: card).text)
    }

    /// The stored copy of a logo; nil without one.
    private func picture(of brand: PresentBrand?, _ call: LedgerCallRow) -> WhyCard.Picture? {
        let owner = call.customer.flatMap { name in configuration.customers.first { $0.name == name } }
        let own = configuration.seen(by: owner)
        guard let logos = own.logos, let url = brand?.logoURL, url.hasPrefix(logos.publicURL + "/logos/"),
            let reader = try? LogoReader(folder: own.state)
        else { return nil }
        let name = String(url.dropFirst(logos.publicURL.count + "/logos/".count))
        return WhyCard.Picture(named: name, reader.file(name))
    }

    private var writer: CallsWriter {
        CallsWriter(order.output, hasCustomers: !configuration.customers.isEmpty, zone: zone, links: links)
    }

    /// Writes calls as they are read, so that a list of any length takes the same memory.
    ///
    /// - Returns: their number.
    private func stream(_ limit: Int, to writer: inout CallsWriter) throws -> Int {
        let rows = try CommandFailure.reported { try reader.rows(matching: filter, limit: limit) }
        if rows.isEmpty { try writer.write([]) }
        for end in stride(from: rows.count, to: 0, by: -Self.page) {
            var some = filter
            some.rows = Set(rows[max(0, end - Self.page)..<end])
            try writer.write(try readAsWritten(some, limit: Self.page).reversed())
        }
        return rows.count
    }

    /// Reports a trunk or customer that does not exist, where no call was found.
    private func checkNames() throws {
        let trunks = configuration.trunks.map(\.name)
        let problem = order.query.unknownName(trunks: trunks, customers: configuration.knownCustomers)
        if let problem { throw CommandFailure(problem.ofOption) }
    }

    /// The calls with a Call-ID, else the one whose Call-ID begins with it, else the one that has it elsewhere; newest last.
    private func found(_ callID: String) throws -> [LedgerCallRow] {
        let limit = order.limit ?? Self.usualLimit
        guard shared == nil else {
            // It has an index of whole identifiers.
            var whole = filter
            whole.callID = callID
            let calls = try read(whole, limit: limit)
            return calls.isEmpty ? [try foundByPart(callID)] : calls.reversed()
        }
        let name = CallName(callID, others: secret.map { WithheldCallID.names(of: callID, $0) } ?? [])
        switch try CommandFailure.reported({ try reader.calls(named: name, filter, limit: limit) }) {
        case .whole(let calls): return calls.reversed()
        case .begun(let calls) where calls.isEmpty: return [try foundByPart(callID)]
        case .begun(let calls): return [try theOne(of: calls, callID)]
        }
    }

    /// The one call with a part of its Call-ID.
    private func foundByPart(_ callID: String) throws -> LedgerCallRow {
        var part = filter
        part.callIDPart = callID
        return try theOne(of: try readAsWritten(part, limit: 2), callID)
    }

    private func theOne(of calls: [LedgerCallRow], _ part: String) throws(CommandFailure) -> LedgerCallRow {
        let id = TerminalText.visible(part)
        guard let call = calls.first else {
            throw CommandFailure("there is no call \(id) in the ledger; see herald calls")
        }
        guard calls.count == 1 else {
            throw CommandFailure("several calls have \(id) in their Call-ID; see herald calls --call-id '\(id)'")
        }
        return call
    }

    /// Calls of all gateways, or of this one if the shared ledger cannot be read, newest first.
    private func read(_ filter: CallFilter, limit: Int) throws -> [LedgerCallRow] {
        let calls = try readAsWritten(filter, limit: limit)
        guard calls.isEmpty, let secret else { return calls }
        for filter in filter.ofWithheldCallers(secret) {
            let calls = try readAsWritten(filter, limit: limit)
            if !calls.isEmpty { return calls }
        }
        return []
    }

    private func readAsWritten(_ filter: CallFilter, limit: Int) throws -> [LedgerCallRow] {
        if let calls = shared?.calls(matching: filter, limit: limit) { return calls }
        return try CommandFailure.reported { try reader.calls(matching: filter, limit: limit) }
    }
}

extension CallFilter {
    /// The same search for the Call-ID of a withheld caller, of which the ledger has a keyed hash; none without a Call-ID.
    func ofWithheldCallers(_ secret: Secret) -> [CallFilter] {
        guard let callID = callID ?? callIDPart else { return [] }
        return WithheldCallID.names(of: callID, secret).map { name in
            var filter = self
            (filter.callID, filter.callIDPart) = (name, nil)
            return filter
        }
    }
}
