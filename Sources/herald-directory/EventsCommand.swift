// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import BrandingAPI
import DirectoryStore
import Host

/// `herald-directory events`: the events that gateways and phones report.
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "List reported events.",
        discussion: """
            Example:
              herald-directory events --limit 20
            """,
        subcommands: [List.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List reported events, the newest last.",
            discussion: """
                An event counts once, also after retries. COUNTED has the reason of an uncounted event.

                Example:
                  herald-directory events list --limit 20
                  herald-directory events list --json --number +61491570156
                """)

        @OptionGroup var options: AccountOptions

        @Option(help: "Only events of this number.", transform: NumberArgument.read)
        var number: E164Number?

        @Option(help: ArgumentHelp("Only events with this outcome.", valueName: "outcome"))
        var outcome: String?

        @Option(help: ArgumentHelp("Only events of this device.", valueName: "id"))
        var device: String?

        @OptionGroup var list: ListOptions

        @Option(parsing: .unconditional, help: "The most events; 100 by default, or all with --json.")
        var limit: Int?

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
        }

        func run() throws {
            let (database, account) = try options.open()
            var filter = EventLedger.Filter()
            (filter.number, filter.outcome, filter.deviceID) = (number, outcome, device)
            let events = try EventLedger(database, account: account)
                .page(filter, limit: limit ?? (list.json ? .max : 100)).events.reversed()
            if list.json { return try events.forEach { try Output.write(json: $0) } }
            guard !events.isEmpty else { return Output.write("no events\n") }
            let rows = events.map { event in
                let callOutcome: String? =
                    if case .string(let text) = event.meta?["call_outcome"] { text } else { nil }
                return [
                    event.receivedAt, event.number, event.outcome, callOutcome,
                    event.counted ? "yes" : event.reason ?? "no", event.eventKey,
                ]
            }
            Output.write(
                table: ["RECEIVED", "NUMBER", "OUTCOME", "CALL", "COUNTED", "KEY"], list.form, whole: ["NUMBER"],
                wideOnly: ["KEY"], rows)
        }
    }
}
