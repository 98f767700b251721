// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald calls list`.
struct CallsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the latest calls with their outcome, follow them, or count them.",
        discussion: """
            Reads the ledger, also beside a running gateway. The newest call is the last line. Times are those of TZ, with UTC beside.

            A time is 15m, 1h, 7d, today, yesterday, 2026-01-31, '2026-01-31 12:00' in local time, or 2026-01-31T12:00:00Z.

            Examples:
              herald calls list --limit 50
              herald calls list --summary --since 1h
              herald calls list --decision unbranded --since yesterday
              herald calls list --reason untrusted --trunk carrier --since '2026-01-31 12:00'
              herald calls list --number +61255501001 --outcome missed --json
              herald calls list --name 'acme' --call-id 84b4c76
              herald calls list --brand 'Acme Bank' --since 7d --limit 100000 --csv
              herald calls list --customer acme --wide
              herald calls list --follow
            """)

    @Option(help: "Largest number of calls, the latest ones; 20 if not given.")
    var limit: Int?

    @Option(
        help: ArgumentHelp("Only calls with this decision: branded, unbranded, or a reason.", valueName: "decision"))
    var decision: String?

    @Option(
        help: ArgumentHelp("Only calls without a brand for this reason, such as no_match; gated for all gates."))
    var reason: String?

    @Option(help: "Only calls with this outcome, such as answered or missed; open for calls in progress.")
    var outcome: String?

    @Option(help: ArgumentHelp("Only calls of this brand: its whole name, or its id.", valueName: "brand"))
    var brand: String?

    @Option(help: "Only calls of this trunk.")
    var trunk: String?

    @Option(help: ArgumentHelp("Only calls of this customer.", valueName: "name"))
    var customer: String?

    @Option(help: "Only calls from or to this number, its last digits, or a part of what the carrier sent instead.")
    var number: String?

    @Option(help: ArgumentHelp("Only calls with this part of the brand's or the carrier's name.", valueName: "text"))
    var name: String?

    @Option(help: ArgumentHelp("Only calls with this part of their SIP Call-ID or call id.", valueName: "text"))
    var callID: String?

    @Option(
        help: ArgumentHelp(
            "Only calls signed by this provider: its code, or the first number of its certificate.", valueName: "code"))
    var provider: String?

    @Option(help: ArgumentHelp("Only calls that began at this time or later.", valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp("Only calls that began at this time or earlier; a day counts to its end.", valueName: "time")
    )
    var until: String?

    @Flag(help: "Count the calls by decision, reason and outcome, with the first and the last one of each.")
    var summary = false

    @Flag(help: "Comma-separated values instead of text.")
    var csv = false

    @Flag(help: "Only calls of this gateway, not those of all gateways of the shared ledger.")
    var local = false

    @Flag(help: "List each further call when it ends, until the command is interrupted.")
    var follow = false

    @OptionGroup var options: ListOptions

    func validate() throws {
        if let limit { try OperatorOptions.check(limit: limit) }
        if let empty = parts.first(where: { $0.1?.isEmpty == true }) {
            throw ValidationError("\(empty.0.option) has an empty value; leave it out to list any")
        }
        do throws(CallQueryProblem) {
            try query.check()
        } catch {
            throw ValidationError(error.ofOption)
        }
        if csv, options.json || options.wide {
            throw ValidationError("--csv and \(options.json ? "--json" : "--wide") exclude each other")
        }
        guard summary else { return }
        if follow { throw ValidationError("--summary and --follow exclude each other") }
        if csv || options.wide { throw ValidationError("--summary excludes \(csv ? "--csv" : "--wide")") }
        if limit != nil { throw ValidationError("--summary counts all calls, so it excludes --limit") }
    }

    func run() async throws {
        var order = CallListing.Order()
        (order.query, order.limit) = (query, limit)
        order.output = options.json ? .json : csv ? .csv : options.wide ? .wide : .table
        // The secret finds calls of withheld callers. A user who may not read it lists all others.
        let withSecrets = callID != nil ? try options.common.configurationWithSecrets() : nil
        // A gateway follows its own calls.
        let shared =
            local || follow || summary ? nil : SharedCalls(try options.common.configurationWithSecrets())
        let listing = try CallListing(try withSecrets ?? options.configuration(), order, shared: shared)
        if follow {
            try await listing.follow()
        } else if summary {
            try listing.summarise()
        } else {
            try listing.list()
        }
    }

    private var query: CallQuery {
        var query = CallQuery()
        query[.customer] = customer
        for (field, value) in parts { query[field] = value }
        return query
    }

    private var parts: [(CallQuery.Field, String?)] {
        [
            (.decision, decision), (.reason, reason), (.outcome, outcome), (.brand, brand), (.trunk, trunk),
            (.number, number), (.name, name), (.callID, callID), (.provider, provider), (.since, since),
            (.until, until),
        ]
    }
}
