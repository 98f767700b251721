// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import DirectoryStore
import Host
import Primitives

/// `herald-directory registrations`: the names that customers have registered for their numbers by CAMARA.
struct RegistrationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registrations", abstract: "List registrations of customers by CAMARA, and remove them.",
        discussion: """
            Example:
              herald-directory registrations list --status inactive
            """,
        subcommands: [List.self, Remove.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List registrations, the oldest first.",
            discussion: """
                Example:
                  herald-directory registrations list --status inactive
                """)

        @OptionGroup var list: ListOptions

        @Option(parsing: .unconditional, help: "The most rows.")
        var limit = 1000

        @Option(help: ArgumentHelp("active, inactive or expired.", valueName: "status"))
        var status: Registration.Status?

        @OptionGroup var options: AccountOptions

        func validate() throws { try PageLimit.check(limit) }

        func run() async throws {
            let (database, account) = try options.open()
            var filter = Registrations.Filter()
            filter.status = status
            let found = try await Registrations(database, account: account).page(
                filter, page: 1, size: limit, now: secondsNow()
            ).registrations
            let rows = found.map(Row.init)
            if list.json { return try rows.forEach { try Output.write(json: $0) } }
            guard !rows.isEmpty else { return Output.write("no registrations\n") }
            Output.write(
                table: ["NUMBER", "ALTERNATE", "NAME", "STATUS", "EXPIRES", "CUSTOMER", "ID"], list.form,
                whole: ["NUMBER", "STATUS"], wideOnly: ["ALTERNATE", "CUSTOMER", "ID"],
                rows.map { [$0.number, $0.alternate, $0.name, $0.status, $0.expires, $0.customer, $0.id] })
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a registration; its numbers go out of use.",
            discussion: """
                Example:
                  herald-directory registrations remove 019b7a3e-5c00-7d41-9c3e-0a2b4c6d8e1f
                """)

        @Argument(help: "The registration's identifier, from the list with --wide.")
        var id: String

        @OptionGroup var options: AccountOptions

        func run() async throws {
            let (database, account) = try options.open()
            let shown = TerminalText.visible(id)
            do {
                try await Registrations(database, account: account).remove(id, now: secondsNow())
            } catch RegistrationError.unknown {
                throw CommandFailure(
                    "there is no registration \"\(shown)\"; see herald-directory registrations list --wide")
            }
            Output.write("registration \"\(shown)\" is removed\n")
        }
    }
}

/// A registration in a list.
private struct Row: Encodable {
    let id: String
    let number: String
    let alternate: String?
    let name: String
    let status: String
    let country: Int
    let expires: String?
    let customer: String?

    enum CodingKeys: String, CodingKey {
        case status
        case id = "registration_id"
        case number = "phone_number_e164"
        case alternate = "alternate_number_e164"
        case name = "brand_name"
        case country = "terminating_country_code"
        case expires = "expires_at"
        case customer = "customer_id"
    }

    init(_ registration: Registration) {
        let fields = registration.fields
        (id, status) = (registration.id, registration.status.rawValue)
        (number, alternate) = (fields.number.description, fields.alternate?.description)
        (name, country) = (fields.name, fields.country)
        (expires, customer) = (fields.expires, fields.customer)
    }
}

extension Registration.Status: ExpressibleByArgument {}
