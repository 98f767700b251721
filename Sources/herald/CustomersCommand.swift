// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator

/// `herald customers`.
struct CustomersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers",
        abstract: "List the customers of the running gateway: brands, account, last sync, events, calls, problems.",
        discussion: """
            Calls are those from trunks since the start. A customer with the account of another one shares its brands and \
            syncs. A problem is a closed gate or a failed sync. Uses the control socket in gateway.runtime, as the \
            gateway's user, a member of its group or root.

            Examples:
              herald customers
              herald customers --problems
              herald customers --json
            """)

    @Flag(help: "Only customers with a problem.")
    var problems = false

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await options.customers().list(onlyTroubled: problems) }
}
