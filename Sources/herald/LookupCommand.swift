// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayApp

/// `herald lookup`.
struct LookupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Show the brand of a caller, and the reason of the decision.",
        discussion: """
            Decides as the gateway would about a call on the given trunk at this moment. Reads the copy of the brands in \
            the state folder and uses no network. Prints the decision, its reason and the header lines for the phone.

            Examples:
              herald lookup +61255501001
              herald lookup '(02) 5550 1001' --region AU --json
            """)

    @Argument(help: "The caller's number, as the trunk would write it.")
    var number: String

    @Option(
        help: ArgumentHelp("Country of national numbers; the trunk's by default.", valueName: "XX"))
    var region: String?

    @Option(help: ArgumentHelp("The trunk of the call; the first by default.", valueName: "name"))
    var trunk: String?

    @Option(help: "The carrier's attestation of the number.")
    var attestation = Attestation.none

    @OptionGroup var options: OperatorOptions

    func run() throws {
        let lookup = BrandLookup(
            number, region: region, trunk: trunk, attestation: attestation, try options.configuration())
        let report = try lookup.report()
        if options.json { try Output.write(json: report.json) } else { Output.write(report.text) }
    }
}

extension Attestation: ExpressibleByArgument {}
