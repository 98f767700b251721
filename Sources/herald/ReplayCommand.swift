// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator
import Host

/// `herald replay`.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract:
            "Decide recorded calls again under another configuration or other brands, and list those that would change.",
        discussion: """
            Reads the ledger, also beside a running gateway, and decides each call from a trunk with the rules of calls. It \
            changes nothing. The brands are those of the gateway, or of a file. --json and --csv have all changes, and the \
            calls that cannot be decided again.

            The exit code is 0 if no call would change, 2 if calls would change, and 1 if a ledger or a part of it could not \
            be read.

            Examples:
              herald replay --since 7d --policy new.yaml
              herald replay --since 7d --policy new.yaml --trunk carrier --csv > changes.csv
              herald replay --brands brands.psv --decision no_match
              herald replay --policy new.yaml --from monday.sqlite --from tuesday.sqlite
            """)

    @Option(help: ArgumentHelp("The configuration that decides; by default that of --config.", valueName: "file"))
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Brands that decide, a line each: number|name|logo|reason|brand id; by default those of the gateway.",
            valueName: "file"))
    var brands: String?

    @Option(
        help: ArgumentHelp(
            "A ledger in place of the gateway's own, such as one of a backup; may be repeated.", valueName: "file"))
    var from: [String] = []

    @Option(help: "Largest number of calls in the table, the latest ones.")
    var limit = LedgerReplay.usualLimit

    @Option(
        help: ArgumentHelp("Only calls with this decision: branded, unbranded, or a reason.", valueName: "decision"))
    var decision: String?

    @Option(help: ArgumentHelp("Only calls without a brand for this reason, such as no_match; gated for all gates."))
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

    @Option(help: ArgumentHelp("Only calls signed by this provider.", valueName: "code"))
    var provider: String?

    @Option(help: ArgumentHelp("Only calls that began at this time or later.", valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp("Only calls that began at this time or earlier; a day counts to its end.", valueName: "time")
    )
    var until: String?

    @Flag(help: "Comma-separated values instead of text.")
    var csv = false

    @OptionGroup var options: ListOptions

    func validate() throws {
        try OperatorOptions.check(limit: limit)
        if csv, options.json || options.wide {
            throw ValidationError("--csv and \(options.json ? "--json" : "--wide") exclude each other")
        }
        do throws(CallQueryProblem) {
            try query.check()
        } catch {
            throw ValidationError(error.ofOption)
        }
    }

    func run() throws {
        let present = try options.configuration(lists: .read)
        let other = try CommandFailure.reported {
            try policy.map { try HeraldConfiguration.load(path: $0, secrets: .ignored, lists: .read) } ?? present
        }
        var order = LedgerReplay.Order()
        (order.query, order.limit, order.ledgers, order.brands) = (query, limit, from, brands)
        order.output = options.json ? .json : csv ? .csv : options.wide ? .wide : .table
        let summary = try LedgerReplay(present, under: other, order).run()
        if !summary.lost.isEmpty { throw ExitCode(1) }
        if summary.changed > 0 { throw ExitCode(2) }
    }

    private var query: CallQuery {
        var query = CallQuery()
        let parts: [(CallQuery.Field, String?)] = [
            (.decision, decision), (.reason, reason), (.outcome, outcome), (.brand, brand), (.trunk, trunk),
            (.customer, customer), (.number, number), (.name, name), (.provider, provider), (.since, since),
            (.until, until),
        ]
        for (field, value) in parts { query[field] = value }
        return query
    }
}
