// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory brand`: the names, logos and call reasons of brands.
struct BrandCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brand", abstract: "Create, list and change brands, or deactivate their numbers.",
        discussion: """
            Example:
              herald-directory brand create "Acme Bank" --logo acme-256x256.png
              herald-directory brand change acme-bank --name "Acme Bank plc"
            """,
        subcommands: [Create.self, List.self, Change.self, Deactivate.self])

    /// The fields of a brand without the name.
    struct Fields: ParsableArguments {
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("A URL, or the name of a logo of this server; empty for none.", valueName: "logo"))
        var logo: String?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("The call reason of the brand; empty for none.", valueName: "text"))
        var reason: String?

        @Option(
            help: ArgumentHelp(
                "active, or suspended or unresolved, which hold its numbers back from clients.", valueName: "state"))
        var owner: BrandList.Owner?

        @Flag(help: "The brand as one JSON object instead of a sentence.")
        var json = false

        /// Writes the brand, or a sentence about it.
        func write(_ brand: BrandList.Brand, _ verb: String) throws {
            if json { return try Output.write(json: brand) }
            let numbers = brand.numbers.map { "; \($0) active numbers" } ?? ""
            Output.write("brand \(brand.id) \(verb): \(TerminalText.visible(brand.name))\(numbers)\n")
        }

        /// Warns of a logo that the server does not have.
        func checkLogo(_ database: DirectoryDatabase, _ options: StateOptions) throws {
            if let problem = try LogoCheck(database, in: try options.logoPlace()).problem(of: logo) {
                Output.warn("warning: \(problem)")
            }
        }

        func change(name: String?) -> BrandList.Change {
            var change = BrandList.Change()
            (change.name, change.logo, change.reason, change.owner) = (name, logo, reason, owner)
            return change
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a brand.",
            discussion: """
                Example:
                  herald-directory brand create "Acme Bank" --id acme --reason "Fraud alert"
                """)

        @Argument(help: "The name that phones show.")
        var name: String

        @Option(help: "The identifier; by default the letters and digits of the name.")
        var id: String?

        @OptionGroup var fields: Fields

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open(creates: true)
            let brands = BrandList(database, account: account)
            let change = fields.change(name: name)
            let brand = try reportingRefusals { try brands.create(id: id, change, now: secondsNow()) }
            try fields.write(brand, "created")
            try fields.checkLogo(database, options.state)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List brands by identifier.",
            discussion: """
                Example:
                  herald-directory brand list --limit 20
                """)

        @Flag(help: "One JSON object per line instead of a table.")
        var json = false

        @Option(parsing: .unconditional, help: "The most rows.")
        var limit = 1000

        @Option(help: ArgumentHelp("Only brands after this one.", valueName: "id"))
        var after: String?

        @OptionGroup var options: AccountOptions

        func validate() throws { try PageLimit.check(limit) }

        func run() throws {
            let (database, account) = try options.open()
            let brands = try BrandList(database, account: account).page(after: after, limit: limit)
            if json {
                for brand in brands { try Output.write(json: brand) }
                return
            }
            guard !brands.isEmpty else { return Output.write("no brands\n") }
            let rows = brands.map { [$0.id, $0.name, $0.owner.rawValue, $0.reason, $0.logo] }
            Output.write(table: ["ID", "NAME", "OWNER", "CALL REASON", "LOGO"], rows)
        }
    }

    struct Change: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a brand and all its numbers; gateways receive the change with their next sync.",
            discussion: """
                Numbers with a call reason of their own keep it.

                Example:
                  herald-directory brand change acme --name "Acme Bank plc"
                  herald-directory brand change acme --owner suspended
                """)

        @Argument(help: "The brand's identifier.")
        var id: String

        @Option(parsing: .unconditional, help: "The new name.")
        var name: String?

        @OptionGroup var fields: Fields

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let brands = BrandList(database, account: account)
            let change = fields.change(name: name)
            let brand = try reportingRefusals { try brands.change(id, change, now: secondsNow()) }
            try fields.write(brand, "changed")
            try fields.checkLogo(database, options.state)
        }
    }

    struct Deactivate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deactivate all numbers of brands.",
            discussion: """
                Example:
                  herald-directory brand deactivate acme other-brand
                """)

        @Argument(help: "Identifiers of brands.")
        var ids: [String]

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let brands = BrandList(database, account: account)
            let count = try reportingRefusals { try brands.deactivate(ids, now: secondsNow()) }
            Output.write("\(count) numbers deactivated\n")
        }
    }
}

extension BrandList.Owner: ExpressibleByArgument {}

/// The limit of a listing.
enum PageLimit {
    static func check(_ limit: Int) throws {
        guard (1...100_000_000).contains(limit) else { throw ValidationError("--limit must be 1 or more") }
    }
}
