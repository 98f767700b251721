// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald events`.
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the events for the directory, or queue refused ones again.",
        discussion: """
            Examples:
              herald events
              herald events list --state refused --wide
              herald events retry missed:2b5f0c1e-7d0a-5a3b-9c41-0f6f2d1f8a77
            """,
        subcommands: [EventsListCommand.self, EventsRetryCommand.self], defaultSubcommand: EventsListCommand.self)
}

/// `herald events list`.
struct EventsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the events: waiting, delivered, refused and the reason.",
        discussion: """
            Reads the outbox, also beside a running gateway. The newest event is the last line. --wide has the keys.

            Examples:
              herald events list --state refused --wide
              herald events list --customer acme --json
            """)

    @Option(help: "Largest number of events, the latest ones.")
    var limit = 20

    @Option(help: "Only events that are waiting, delivered or refused.")
    var state: EventState?

    @Option(help: ArgumentHelp("Only events of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: ListOptions

    func validate() throws { try OperatorOptions.check(limit: limit) }

    func run() throws {
        try EventListing(try options.configuration(), customer: customer)
            .list(state: state, limit: limit, options.form, asJSON: options.json)
    }
}

/// `herald events retry`.
struct EventsRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Queue a refused event again, or all of them.",
        discussion: """
            A refused event is kept. It keeps its key, so a directory that knows it does not count it twice.

            Examples:
              herald events retry missed:2b5f0c1e-7d0a-5a3b-9c41-0f6f2d1f8a77
              herald events retry --all
              herald events retry --all --customer acme
            """)

    @Argument(help: "The key of the event.")
    var key: String?

    @Flag(help: "Queue every refused event again.")
    var all = false

    @Option(help: ArgumentHelp("Only events of this customer.", valueName: "name"))
    var customer: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if (key != nil) == all { throw ValidationError("retry needs the key of an event, or --all") }
    }

    func run() async throws {
        let events = EventListing(try options.configuration(), customer: customer)
        if let key { try await events.retry(key, asJSON: options.json) }
        if all { try await events.retryAllRefused(asJSON: options.json) }
    }
}

extension EventState: ExpressibleByArgument {
    package init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}
