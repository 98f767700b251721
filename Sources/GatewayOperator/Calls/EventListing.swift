// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import Foundation
import GatewayStore
import Host
package import Primitives

/// States of an event as commands name them.
package enum EventState: String, CaseIterable, Sendable {
    /// Not accepted yet, accepted, refused by the directory.
    case waiting, delivered, refused

    fileprivate var stored: LedgerEventRow.State {
        switch self {
        case .waiting: .waiting
        case .delivered: .delivered
        case .refused: .refused
        }
    }
}

/// `herald events list` and `herald events retry`: lists the outbox, and queues refused events again.
package struct EventListing {
    private let folder: String
    private let customer: String?
    private let known: KnownCustomers

    /// - Parameters:
    ///   - configuration: names the folder of the ledger, and the customers.
    ///   - customer: the customer whose events are listed or queued again; nil for all.
    package init(_ configuration: HeraldConfiguration, customer: String? = nil) {
        folder = configuration.state
        self.customer = customer
        known = configuration.knownCustomers
    }

    /// Writes the latest events to standard output, the newest last.
    ///
    /// - Throws: `CommandFailure` when the ledger cannot be read, and for a name that no customer and no event has.
    package func list(state: EventState?, limit: Int, _ form: TableForm, asJSON: Bool) throws {
        let events = try events(state: state?.stored, limit: limit)
        if asJSON {
            for event in events.reversed() { try Output.write(json: event.json) }
        } else {
            Output.write(Self.table(events.reversed(), form))
        }
    }

    /// Queues a refused event again, under the key it has.
    ///
    /// - Throws: `CommandFailure` when no refused event of the customer has the key.
    package func retry(_ key: String, asJSON: Bool) async throws {
        try await withOutbox { outbox in
            guard try await outbox.retry(key: key, of: customer, now: Self.now) else {
                let owner = customer.map { " of customer \(TerminalText.visible($0))" } ?? ""
                throw CommandFailure(
                    "there is no refused event \(TerminalText.visible(key))\(owner); see herald events --state refused --wide"
                )
            }
            try Self.write(1, asJSON)
        }
    }

    /// Queues all refused events again, or all of the customer.
    ///
    /// - Throws: `CommandFailure` for a name that no customer and no event has.
    package func retryAllRefused(asJSON: Bool) async throws {
        _ = try events(state: nil, limit: 1)
        try await withOutbox { outbox in
            try Self.write(try await outbox.retryAllRefused(of: customer, now: Self.now), asJSON)
        }
    }

    /// The latest events, the newest first; events of a removed customer are found by its name.
    func events(state: LedgerEventRow.State?, limit: Int) throws -> [LedgerEventRow] {
        let reader = try CommandFailure.reported { try LedgerReader(HeraldDatabase.ledgerReader(folder: folder)) }
        if let customer, let problem = known.problem(of: customer),
            try CommandFailure.reported({ try reader.events(customer: customer, limit: 1).isEmpty })
        {
            throw CommandFailure(problem)
        }
        return try CommandFailure.reported { try reader.events(state: state, customer: customer, limit: limit) }
    }

    private func withOutbox(_ work: (EventOutboxStore) async throws -> Void) async throws {
        // Opened for reading first: a wrong folder must be an error, not a new database.
        _ = try CommandFailure.reported { try HeraldDatabase.ledgerReader(folder: folder) }
        let database = try CommandFailure.reported { try HeraldDatabase(folder: folder) }
        try await work(EventOutboxStore(database))
        try database.close()
    }

    private static func write(_ count: Int, _ asJSON: Bool) throws {
        if asJSON { return try Output.write(json: ["waiting_again": count]) }
        Output.write("\(count) event\(count == 1 ? " waits" : "s wait") again\n")
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// The events as a table, with their customers if any event has one.
    static func table(_ events: [LedgerEventRow], _ form: TableForm) -> String {
        guard !events.isEmpty else { return "no events\n" }
        let hasCustomers = events.contains { $0.customer != nil }
        let columns = ["STATE", "OUTCOME", "NUMBER", "TRIES", "COUNTED", "STATUS", "REASON", "KEY"]
        var table = TextTable(
            (hasCustomers ? ["CREATED", "CUSTOMER"] : ["CREATED"]) + columns, form,
            whole: ["CREATED", "STATE", "NUMBER"], wideOnly: ["TRIES", "COUNTED", "STATUS", "KEY"])
        for event in events {
            var cells: [String?] = [OperatorTime.text(event.createdAt)]
            if hasCustomers { cells.append(event.customer) }
            cells += [
                event.state.word, event.outcome, event.number, "\(event.attempts)",
                event.isCounted.map { $0 ? "yes" : "no" }, event.status.map(String.init), event.reason, event.key,
            ]
            table.add(cells)
        }
        return table.text
    }
}
