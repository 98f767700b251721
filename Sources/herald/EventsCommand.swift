// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import Foundation
import GatewayAdmin
import GatewayApp
import GatewayStore

/// `herald events`: the outbox, and sending again what the directory refused.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the events for the directory: waiting, delivered, refused and why.",
        discussion: """
            Reads the outbox beside a running gateway; the newest event stands last. A refused event is kept and \
            can be made to wait again: it is sent with the key it has, so a directory that knows it does not count it \
            twice.

            Examples:
              herald events --state refused
              herald events --retry missed:2b5f0c1e-7d0a-5a3b-9c41-0f6f2d1f8a77
              herald events --retry-refused
            """)

    @Option(help: "How many of the latest events.")
    var limit = 20

    @Option(help: "Only events that are waiting, delivered or refused.")
    var state: LedgerEventRow.State?

    @Option(help: ArgumentHelp("Make one refused event wait again.", valueName: "key"))
    var retry: String?

    @Flag(help: "Make every refused event wait again.")
    var retryRefused = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
        if retry != nil, retryRefused { throw ValidationError("--retry and --retry-refused exclude each other") }
    }

    func run() async throws {
        let folder = try options.stateFolder()
        if retry != nil || retryRefused { return try await sendAgain(folder: folder) }
        let events = try CommandFailure.reported {
            try LedgerReader(HeraldDatabase.ledgerReader(folder: folder)).events(state: state, limit: limit)
        }
        if options.json {
            for event in events.reversed() { try Output.write(json: event.json) }
        } else {
            Output.write(Self.table(events.reversed()))
        }
    }

    private func sendAgain(folder: String) async throws {
        // First as a reader, so that a wrong folder is an error and not a new, empty database.
        _ = try CommandFailure.reported { try HeraldDatabase.ledgerReader(folder: folder) }
        let database = try CommandFailure.reported { try HeraldDatabase(folder: folder) }
        let outbox = EventOutboxStore(database)
        let now = Int64(Date().timeIntervalSince1970)
        if let retry {
            guard try await outbox.retry(key: retry, now: now) else {
                throw CommandFailure(
                    "there is no refused event \(TerminalText.visible(retry)); see herald events --state refused")
            }
            Output.write("1 event waits again\n")
        } else {
            let count = try await outbox.retryAllRefused(now: now)
            Output.write("\(count) event\(count == 1 ? " waits" : "s wait") again\n")
        }
        try database.close()
    }

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

extension LedgerEventRow.State: ExpressibleByArgument {
    package init?(argument: String) {
        guard let state = Self.allCases.first(where: { $0.word == argument.lowercased() }) else { return nil }
        self = state
    }

    package static var allValueStrings: [String] { allCases.map(\.word) }
}
