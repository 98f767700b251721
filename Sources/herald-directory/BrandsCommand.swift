// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import BrandingAPI
import Directory

/// `herald-directory brands`: what is listed, and taking a number out.
struct BrandsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brands", abstract: "List the active brands, or take a number out of use.",
        discussion: """
            Example:
              herald-directory brands --limit 20
              herald-directory brands --deactivate +61491570156
            """)

    @OptionGroup var options: StateOptions

    @Flag(help: "One JSON object a line instead of a table.")
    var json = false

    @Option(help: "At most so many, in the order of their numbers.")
    var limit = 1000

    @Option(
        help: ArgumentHelp("Take this number out of use; gateways learn it with their next sync.", valueName: "number"))
    var deactivate: String?

    func validate() throws {
        guard (1...100_000_000).contains(limit) else { throw ValidationError("--limit must be 1 or more") }
    }

    func run() throws {
        let entries = BrandEntries(try options.open())
        if let deactivate {
            guard let number = E164Number(deactivate) else {
                throw ValidationError("--deactivate takes a number such as +61491570156")
            }
            guard try entries.deactivate(number, now: secondsNow()) else {
                throw CommandFailure("\(number) is not listed; see herald-directory brands")
            }
            return Output.write("\(number) is out of use\n")
        }
        let items = try entries.active(limit: limit)
        if json {
            for item in items { try Output.write(json: item) }
            return
        }
        guard !items.isEmpty else { return Output.write("no brands\n") }
        let rows = items.map { [$0.phoneNumber, $0.brandName, $0.brandID, $0.callReason, $0.logoURL] }
        Output.write(table: ["NUMBER", "BRAND", "BRAND ID", "CALL REASON", "LOGO"], rows)
    }
}
