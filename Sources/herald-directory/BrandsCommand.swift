// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory brands`: the names, logos and call reasons of brands.
struct BrandsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brands", abstract: "List, show, add, set and remove brands.",
        discussion: """
            Example:
              herald-directory brands add "Acme Bank" --logo acme-256x256.png
              herald-directory brands set acme-bank --name "Acme Bank plc"
            """,
        subcommands: [List.self, Show.self, Add.self, Set.self, Remove.self], defaultSubcommand: List.self)

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

        @OptionGroup var result: ResultOptions

        /// Writes the brand, or a sentence about it.
        func write(_ brand: BrandList.Brand, _ verb: String) throws {
            if result.json { return try Output.write(json: brand) }
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

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a brand.",
            discussion: """
                Example:
                  herald-directory brands add "Acme Bank" --id acme --reason "Fraud alert"
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
            try fields.write(brand, "added")
            try fields.checkLogo(database, options.state)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List brands by identifier.",
            discussion: """
                Example:
                  herald-directory brands list --limit 20
                """)

        @OptionGroup var list: ListOptions

        @Option(parsing: .unconditional, help: "The most rows.")
        var limit = 1000

        @Option(help: ArgumentHelp("Only brands after this one.", valueName: "id"))
        var after: String?

        @OptionGroup var options: AccountOptions

        func validate() throws { try PageLimit.check(limit) }

        func run() throws {
            let (database, account) = try options.open()
            let brands = try BrandList(database, account: account).page(after: after, limit: limit)
            if list.json { return try brands.forEach { try Output.write(json: $0) } }
            guard !brands.isEmpty else { return Output.write("no brands\n") }
            let rows = brands.map { [$0.id, $0.name, $0.owner.rawValue, $0.reason, $0.logo] }
            Output.write(table: ["ID", "NAME", "OWNER", "CALL REASON", "LOGO"], list.form, whole: ["ID"], rows)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a brand with the count of its numbers.",
            discussion: """
                Example:
                  herald-directory brands show acme
                """)

        @Argument(help: "The brand's identifier.")
        var id: String

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let brand = try reportingRefusals { try BrandList(database, account: account).brand(id) }
            if result.json { return try Output.write(json: brand) }
            Output.write(facts: [
                ("id", brand.id), ("name", brand.name), ("owner", brand.owner.rawValue),
                ("reason", brand.reason ?? "none"), ("logo", brand.logo ?? "none"),
                ("numbers", "\(brand.numbers ?? 0) active"), ("changed", brand.updated),
            ])
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set fields of a brand and all its numbers; gateways receive the change with their next sync.",
            discussion: """
                Numbers with a call reason of their own keep it.

                Example:
                  herald-directory brands set acme --name "Acme Bank plc"
                  herald-directory brands set acme --owner suspended
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

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove brands from all their numbers; the brands stay for events and reports.",
            discussion: """
                The name of a removed brand can still be registered by CAMARA. "brands set ID --owner suspended" withdraws it.

                Example:
                  herald-directory brands remove acme other-brand
                """)

        @Argument(help: "Identifiers of brands.")
        var ids: [String]

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let brands = BrandList(database, account: account)
            let count = try reportingRefusals { try brands.deactivate(ids, now: secondsNow()) }
            try RemovedNumbers.write(count, result.json)
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
