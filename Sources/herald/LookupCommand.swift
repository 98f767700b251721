// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator
import Host

/// `herald lookup`.
struct LookupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Show the brand of a caller and the route of a called number, with the reasons.",
        discussion: """
            Decides as the gateway would about a call on the given trunk at this moment. Reads the copy of the brands in \
            the state folder and uses no network. Prints the decision, its reason and the header lines for the phone. With \
            --called it prints the route of that number, its PBX and its policy, and decides by that policy and with the \
            brands of the route's customer. --customer decides with a customer's brands without a called number.

            Examples:
              herald lookup +61255501001
              herald lookup '(02) 5550 1001' --region AU --json
              herald lookup --called +61255502000
              herald lookup --called +61255502000 +61255501001
              herald lookup --customer acme +61255501001
            """)

    @Argument(help: "The caller's number, as the trunk would write it.")
    var number: String?

    @Option(help: ArgumentHelp("The called number, as the trunk would write it.", valueName: "number"))
    var called: String?

    @Option(help: ArgumentHelp("The customer of the call; that of --called by default.", valueName: "name"))
    var customer: String?

    @Option(
        help: ArgumentHelp("Country of national numbers; the trunk's by default.", valueName: "XX"))
    var region: String?

    @Option(help: ArgumentHelp("The trunk of the call; the first by default.", valueName: "name"))
    var trunk: String?

    @Option(help: "The carrier's attestation of the number.")
    var attestation = Attestation.none

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if number == nil, called == nil { throw ValidationError("lookup needs the caller's number, or --called") }
    }

    func run() throws {
        let configuration = try options.configuration(lists: called == nil ? .ignored : .read)
        let lookup = BrandLookup(
            number ?? "", called: called, customer: customer, region: region, trunk: trunk, attestation: attestation,
            configuration)
        if number == nil, let destination = try lookup.destination() {
            if options.json { return try Output.write(json: destination.json) }
            return Output.write(destination.text)
        }
        let report = try lookup.report()
        if options.json { try Output.write(json: report.json) } else { Output.write(report.text) }
    }
}

extension Attestation: ExpressibleByArgument {}
