// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald calls`.
struct CallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "List the latest calls with their outcome, or show the timeline of one call.",
        discussion: """
            Reads the ledger, also beside a running gateway. The newest call is the last line. Times are UTC.

            Examples:
              herald calls --limit 50
              herald calls --number +61255501001 --outcome missed --json
              herald calls --number 55501001 --since 2026-01-31
              herald calls --name 'acme' --call-id 84b4c76
              herald calls --trunk carrier --since 2026-01-31 --until 2026-01-31T12:00:00Z --csv
              herald calls --customer acme --limit 50
              herald calls --follow
              herald calls --show a84b4c76e66710@carrier.example
            """)

    @Option(help: "Largest number of calls, the latest ones.")
    var limit = 20

    @Option(help: "Only calls from or to this number, its last digits, or a part of what the carrier sent instead.")
    var number: String?

    @Option(help: ArgumentHelp("Only calls with this part of the brand's or the carrier's name.", valueName: "text"))
    var name: String?

    @Option(help: "Only calls of this trunk.")
    var trunk: String?

    @Option(help: ArgumentHelp("Only calls of this customer.", valueName: "name"))
    var customer: String?

    @Option(
        help: ArgumentHelp(
            "Only calls signed by this provider: its code, or the first number of its certificate.", valueName: "code"))
    var provider: String?

    @Option(help: "Only calls with this outcome, such as answered or missed; open for calls in progress.")
    var outcome: String?

    @Option(
        help: ArgumentHelp("Only calls that began at this time or later: a day or a moment in UTC.", valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp("Only calls that began at this time or earlier; a day counts to its end.", valueName: "time")
    )
    var until: String?

    @Flag(inversion: .prefixedNo, help: "Only calls with a brand, or only calls without.")
    var branded: Bool?

    @Option(help: ArgumentHelp("Only calls with this part of their SIP Call-ID or call id.", valueName: "text"))
    var callID: String?

    @Option(
        help: ArgumentHelp(
            "Show the timeline of the call with this SIP Call-ID or call id, or a part of it.", valueName: "id"))
    var show: String?

    @Flag(help: "Comma-separated values instead of text.")
    var csv = false

    @Flag(help: "Only calls of this gateway, not those of all gateways of the shared ledger.")
    var local = false

    @Flag(help: "List each further call when it ends, until the command is interrupted.")
    var follow = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if let problem = query.problem { throw ValidationError(problem) }
        if csv, options.json { throw ValidationError("--csv and --json exclude each other") }
        if show != nil, csv || follow { throw ValidationError("--show excludes --csv and --follow") }
    }

    func run() async throws {
        let output = options.json ? CallsOutput.json : csv ? .csv : .table
        // The secret finds calls of withheld callers. A user who may not read it lists all others.
        let withSecrets = show != nil || callID != nil ? try options.configurationWithSecrets() : nil
        // A gateway follows its own calls.
        let shared = local || follow ? nil : SharedCalls(try options.configurationWithSecrets())
        let listing = try CallListing(try withSecrets ?? options.configuration(), query, output, shared: shared)
        if show != nil {
            try listing.show()
        } else if follow {
            try await listing.follow()
        } else {
            try listing.list()
        }
    }

    private var query: CallQuery {
        var query = CallQuery()
        query.limit = limit
        query.callID = show
        query.customer = customer
        guard show == nil else { return query }
        query.number = number
        query.name = name
        query.callIDPart = callID
        query.trunk = trunk
        query.provider = provider
        query.outcome = outcome
        query.since = since
        query.until = until
        query.isBranded = branded
        return query
    }
}
