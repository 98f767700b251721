// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald calls`.
struct CallsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "List the latest calls with their outcome, or show the story of one call.",
        discussion: """
            herald calls list --help has the options of a search.

            Examples:
              herald calls
              herald calls --summary --since 1h
              herald calls --decision unbranded --since yesterday
              herald calls --follow
              herald calls show a84b4c76e66710@carrier.example
            """,
        subcommands: [CallsListCommand.self, CallsShowCommand.self], defaultSubcommand: CallsListCommand.self)
}

/// `herald calls show`.
struct CallsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the story of a call: the card, the ladder with the evidence, events and the remedy.",
        discussion: """
            Reads the ledger, also beside a running gateway. Times are those of TZ, with UTC beside.

            Examples:
              herald calls show a84b4c76e66710@carrier.example
              herald calls show 2b5f0c1e --json
              herald calls show 2b5f0c1e --card html --phone snom > call.html
            """)

    @Argument(help: "The SIP Call-ID or call id, its begin, or a part of it.")
    var id: String

    @Option(help: ArgumentHelp("Only a call of this customer.", valueName: "name"))
    var customer: String?

    @Flag(help: "Only calls of this gateway, not those of all gateways of the shared ledger.")
    var local = false

    @Option(help: "The card of the call for a support desk: html for one file, or text.")
    var card: WhyCardForm?

    @Option(help: ArgumentHelp("The callee's phones on the card; all families if not given.", valueName: "family"))
    var phone: String?

    @Flag(help: "The callee's number in full on the card.")
    var withCallee = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if card == nil, phone != nil || withCallee { throw ValidationError("--phone and --with-callee need --card") }
        if card != nil, options.json { throw ValidationError("--card and --json exclude each other") }
    }

    func run() throws {
        let family = try phone.map { name in try PhoneDisplay.read(name) }
        var order = CallListing.Order()
        order.query[.customer] = customer
        order.output = options.json ? .json : .table
        // The secret finds calls of withheld callers.
        let configuration = try options.configurationWithSecrets()
        let listing = try CallListing(configuration, order, shared: local ? nil : SharedCalls(configuration))
        guard let card else { return try listing.show(id) }
        try listing.showCard(id, card, family: family, withCallee: withCallee)
    }
}

extension WhyCardForm: ExpressibleByArgument {}
