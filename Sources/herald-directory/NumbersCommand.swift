// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import DirectoryStore
import Host
import Primitives

/// `herald-directory numbers`: the numbers of brands.
struct NumbersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "numbers", abstract: "List, set and remove numbers of brands.",
        discussion: """
            Example:
              herald-directory numbers set +61491570156 --brand acme
              herald-directory numbers remove +61491570156
            """,
        subcommands: [List.self, Set.self, Remove.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List numbers in numeric order.",
            discussion: """
                Example:
                  herald-directory numbers list --brand acme --limit 20
                """)

        @OptionGroup var list: ListOptions

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
            if list.json { return try numbers.forEach { try Output.write(json: $0) } }
            guard !numbers.isEmpty else { return Output.write("no numbers\n") }
            let rows = numbers.map { [$0.number, $0.name, $0.brandID, $0.state.rawValue, $0.reason, $0.logo] }
            Output.write(
                table: ["NUMBER", "BRAND", "BRAND ID", "STATE", "CALL REASON", "LOGO"], list.form,
                whole: ["NUMBER", "BRAND ID", "STATE"], wideOnly: ["LOGO"], rows)
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Assign a number to a brand and activate it.",
            discussion: """
                Example:
                  herald-directory numbers set +61491570156 --brand acme --reason "Your delivery"
                """)

        @Argument(help: "The number.", transform: NumberArgument.read)
        var number: E164Number

        @Option(help: ArgumentHelp("The brand's identifier.", valueName: "id"))
        var brand: String

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("A call reason of its own; by default the brand's.", valueName: "text"))
        var reason: String?

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let numbers = BrandNumbers(database, account: account)
            _ = try reportingRefusals { try numbers.set(number, brandID: brand, reason: reason, now: secondsNow()) }
            if result.json {
                return try Output.write(json: ["number_e164": "\(number)", "brand_id": brand])
            }
            Output.write("\(number) belongs to \(TerminalText.visible(brand))\n")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove numbers; gateways receive the change with their next sync.",
            discussion: """
                Example:
                  herald-directory numbers remove +61491570156 +61491570157
                """)

        @Argument(help: "The numbers.", transform: NumberArgument.read)
        var numbers: [E164Number]

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let count = try BrandNumbers(database, account: account).deactivate(
                numbers, now: secondsNow())
            guard count > 0 else {
                throw CommandFailure("none of these numbers is active; see herald-directory numbers list")
            }
            try RemovedNumbers.write(count, result.json)
        }
    }
}

/// The result of a command that removes numbers.
enum RemovedNumbers {
    static func write(_ count: Int, _ asJSON: Bool) throws {
        if asJSON { return try Output.write(json: ["removed": count]) }
        Output.write(count == 1 ? "1 number removed\n" : "\(count) numbers removed\n")
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
