// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import GatewayAdmin
import GatewayStore
import SafeText

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

/// `herald events`: lists the outbox, and queues refused events again.
package struct EventListing {
    private let folder: String

    /// - Parameter stateFolder: the folder of the ledger.
    package init(stateFolder: String) { folder = stateFolder }

    /// Writes the latest events to standard output, the newest last.
    ///
    /// - Throws: `CommandFailure` when the ledger cannot be read.
    package func list(state: EventState?, customer: String? = nil, limit: Int, asJSON: Bool) throws {
        let events = try CommandFailure.reported {
            try LedgerReader(HeraldDatabase.ledgerReader(folder: folder)).events(
                state: state?.stored, customer: customer, limit: limit)
        }
        if asJSON {
            for event in events.reversed() { try Output.write(json: event.json) }
        } else {
            Output.write(Self.table(events.reversed()))
        }
    }

    /// Queues a refused event again, under the key it has.
    ///
    /// - Throws: `CommandFailure` when no refused event has the key.
    package func retry(_ key: String) async throws {
        try await withOutbox { outbox in
            guard try await outbox.retry(key: key, now: Self.now) else {
                throw CommandFailure(
                    "there is no refused event \(TerminalText.visible(key)); see herald events --state refused")
            }
            Output.write("1 event waits again\n")
        }
    }

    /// Queues all refused events again.
    package func retryAllRefused() async throws {
        try await withOutbox { outbox in
            let count = try await outbox.retryAllRefused(now: Self.now)
            Output.write("\(count) event\(count == 1 ? " waits" : "s wait") again\n")
        }
    }

    private func withOutbox(_ work: (EventOutboxStore) async throws -> Void) async throws {
        // Opened for reading first: a wrong folder must be an error, not a new database.
        _ = try CommandFailure.reported { try HeraldDatabase.ledgerReader(folder: folder) }
        let database = try CommandFailure.reported { try HeraldDatabase(folder: folder) }
        try await work(EventOutboxStore(database))
        try database.close()
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    private static func table(_ events: [LedgerEventRow]) -> String {
        guard !events.isEmpty else { return "no events\n" }
        var table = TextTable(["CREATED", "STATE", "OUTCOME", "NUMBER", "TRIES", "COUNTED", "STATUS", "REASON", "KEY"])
        for event in events {
            table.add([
                Timestamp.string(from: event.createdAt), event.state.word, event.outcome, event.number,
                "\(event.attempts)", event.isCounted.map { $0 ? "yes" : "no" }, event.status.map(String.init),
                event.reason, event.key,
            ])
        }
        return table.text
    }
}
