// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import DirectoryStore
import Host
import Primitives

/// `herald-directory number`: the numbers of brands.
struct NumberCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "number", abstract: "List numbers, assign them to a brand, or deactivate them.",
        discussion: """
            Example:
              herald-directory number set +61491570156 --brand acme
              herald-directory number deactivate +61491570156
            """,
        subcommands: [List.self, Set.self, Deactivate.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List numbers in numeric order.",
            discussion: """
                Example:
                  herald-directory number list --brand acme --limit 20
                """)

        @Flag(help: "One JSON object per line instead of a table.")
        var json = false

        @Option(parsing: .unconditional, help: "The most rows.")
        var limit = 1000

        @Option(
            help: ArgumentHelp("Only numbers after this one.", valueName: "number"), transform: NumberArgument.read)
        var after: E164Number?

        @Option(help: ArgumentHelp("Only numbers of this brand.", valueName: "id"))
        var brand: String?

        @Option(help: ArgumentHelp("active, held (its brand's owner is not active) or inactive.", valueName: "state"))
        var only: BrandNumbers.State?

        @OptionGroup var options: AccountOptions

        func validate() throws { try PageLimit.check(limit) }

        func run() throws {
            let (database, account) = try options.open()
            let numbers = try BrandNumbers(database, account: account).page(
                after: after, limit: limit, brandID: brand, state: only)
            if json {
                for number in numbers { try Output.write(json: number) }
                return
            }
            guard !numbers.isEmpty else { return Output.write("no numbers\n") }
            let rows = numbers.map { [$0.number, $0.name, $0.brandID, $0.state.rawValue, $0.reason, $0.logo] }
            Output.write(table: ["NUMBER", "BRAND", "BRAND ID", "STATE", "CALL REASON", "LOGO"], rows)
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Assign a number to a brand and activate it.",
            discussion: """
                Example:
                  herald-directory number set +61491570156 --brand acme --reason "Your delivery"
                """)

        @Argument(help: "The number.", transform: NumberArgument.read)
        var number: E164Number

        @Option(help: ArgumentHelp("The brand's identifier.", valueName: "id"))
        var brand: String

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("A call reason of its own; by default the brand's.", valueName: "text"))
        var reason: String?

        @Flag(help: "The number and its brand as one JSON object instead of a sentence.")
        var json = false

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let numbers = BrandNumbers(database, account: account)
            try reportingRefusals { try numbers.set(number, brandID: brand, reason: reason, now: secondsNow()) }
            if json {
                return try Output.write(json: ["number_e164": "\(number)", "brand_id": brand])
            }
            Output.write("\(number) belongs to \(TerminalText.visible(brand))\n")
        }
    }

    struct Deactivate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deactivate numbers; gateways receive the change with their next sync.",
            discussion: """
                Example:
                  herald-directory number deactivate +61491570156 +61491570157
                """)

        @Argument(help: "The numbers.", transform: NumberArgument.read)
        var numbers: [E164Number]

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let count = try BrandNumbers(database, account: account).deactivate(
                numbers, now: secondsNow())
            guard count > 0 else {
                throw CommandFailure("none of these numbers is active; see herald-directory number list")
            }
            Output.write("\(count) numbers deactivated\n")
        }
    }
}

/// Parses a number on the command line, such as `+61491570156`.
enum NumberArgument {
    /// Accepts blanks and dashes.
    ///
    /// - Throws: `ValidationError` with the text and the expected format.
    static func read(_ text: String) throws -> E164Number {
        let normaliser = NumberNormaliser(region: nil)
        guard let number = normaliser.normalise(Array(text.utf8)) else {
            throw ValidationError(
                "\"\(TerminalText.visible(String(text.prefix(40))))\" is no number; write it with + and the country code, "
                    + "such as +61491570156")
        }
        return number
    }
}

extension BrandNumbers.State: ExpressibleByArgument {}
