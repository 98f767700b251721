// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald customers`.
struct CustomersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers",
        abstract: "List the customers of the running gateway, or show one.",
        discussion: """
            Examples:
              herald customers
              herald customers show acme
            """,
        subcommands: [CustomersListCommand.self, CustomersShowCommand.self],
        defaultSubcommand: CustomersListCommand.self)
}

/// `herald customers list`.
struct CustomersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the customers: brands, account, last sync, events, calls, problems.",
        discussion: """
            Calls are those from trunks since the start. A customer with the account of another one shares its brands and \
            syncs. A problem is a closed gate or a failed sync. Uses the control socket in gateway.runtime, as the \
            gateway's user, a member of its group or root.

            Examples:
              herald customers list
              herald customers list --problems
              herald customers list --wide
            """)

    @Flag(help: "Only customers with a problem.")
    var problems = false

    @OptionGroup var options: ListOptions

    func run() async throws {
        try await options.common.customers().list(onlyTroubled: problems, options.form)
    }
}

/// `herald customers show`.
struct CustomersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a customer: account, brands, last sync, events, calls, problem.",
        discussion: """
            Example:
              herald customers show acme
            """)

    @Argument(help: "The name of the customer.")
    var name: String

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.customers().show(name) }
}
