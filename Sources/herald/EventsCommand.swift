// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald events`.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the events for the directory: waiting, delivered, refused and the reason.",
        discussion: """
            Reads the outbox, also beside a running gateway. The newest event is the last line. A refused event is kept \
            and can be queued again. It keeps its key, so a directory that knows it does not count it twice.

            Examples:
              herald events --state refused
              herald events --retry missed:2b5f0c1e-7d0a-5a3b-9c41-0f6f2d1f8a77
              herald events --retry-refused
              herald events --retry-refused --customer acme
            """)

    @Option(help: "Largest number of events, the latest ones.")
    var limit = 20

    @Option(help: "Only events that are waiting, delivered or refused.")
    var state: EventState?

    @Option(help: ArgumentHelp("List or queue again only events of this customer.", valueName: "name"))
    var customer: String?

    @Option(help: ArgumentHelp("Queue one refused event again.", valueName: "key"))
    var retry: String?

    @Flag(help: "Queue every refused event again.")
    var retryRefused = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        try options.check(limit: limit)
        if retry != nil, retryRefused { throw ValidationError("--retry and --retry-refused exclude each other") }
    }

    func run() async throws {
        let events = EventListing(try options.configuration(), customer: customer)
        if let retry {
            try await events.retry(retry)
        } else if retryRefused {
            try await events.retryAllRefused()
        } else {
            try events.list(state: state, limit: limit, asJSON: options.json)
        }
    }
}

extension EventState: ExpressibleByArgument {
    package init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}
