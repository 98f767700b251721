// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host
package import Primitives

/// `herald customers list` and `herald customers show`: the customers of the running gateway.
package struct CustomerListing: Sendable {
    private let client: ControlClient
    private let asJSON: Bool

    /// - Parameter runtimeFolder: the folder of the control socket.
    package init(runtimeFolder: String, asJSON: Bool) {
        client = ControlClient(folder: runtimeFolder)
        self.asJSON = asJSON
    }

    /// Writes all customers to standard output, or those with a problem.
    ///
    /// - Throws: `CommandFailure` when no gateway runs.
    package func list(onlyTroubled: Bool, _ form: TableForm) async throws {
        let all = try await CommandFailure.reported { try await client.customers() }
        let listed = onlyTroubled ? all.filter { $0.problem != nil } : all
        guard asJSON else { return Output.write(Self.table(listed, of: all.count, form)) }
        for customer in listed { try Output.write(json: customer) }
    }

    /// Writes one customer.
    ///
    /// - Throws: `CommandFailure` when no gateway runs, and for an unknown name.
    package func show(_ name: String) async throws {
        let found = try await CommandFailure.reported { try await client.customers(named: name) }
        for customer in found {
            if asJSON { try Output.write(json: customer) } else { Output.write(Self.text(customer)) }
        }
    }

    /// The customers as a table; without rows a line gives the reason.
    ///
    /// - Parameter count: the number of all customers.
    static func table(
        _ customers: [GatewayStatus.Customer], of count: Int, _ form: TableForm
    ) -> String {
        guard count > 0 else { return "no customers: every call uses the section directory or brands\n" }
        guard !customers.isEmpty else { return "none of \(count) customers has a problem\n" }
        var table = TextTable(
            [
                "CUSTOMER", "NUMBERS", "BRANDS", "ACCOUNT", "SYNCED", "WAITING", "REFUSED", "CALLS", "BRANDED",
                "PROBLEM",
            ], form, whole: ["CUSTOMER"], wideOnly: ["BRANDS", "ACCOUNT", "WAITING", "REFUSED"])
        for customer in customers {
            table.add([
                customer.name, String(customer.numbers), String(customer.brands), account(customer), synced(customer),
                String(customer.outbox.waiting), String(customer.outbox.refused), String(customer.calls),
                customer.brandedPercent.map { "\($0) %" }, customer.problem,
            ])
        }
        return table.text
    }

    /// One customer, a fact a line.
    static func text(_ customer: GatewayStatus.Customer) -> String {
        let share = customer.brandedPercent.map { ", \(customer.branded) branded (\($0) %)" } ?? ""
        let refused =
            customer.outbox.refused > 0
            ? ", \(customer.outbox.refused) refused: see herald events --state refused --customer \(customer.name)" : ""
        let lines =
            [
                ("customer", customer.name),
                ("account", (customer.directory.map { "at \($0), " } ?? "") + account(customer)),
                ("brands", "\(customer.numbers) numbers with \(customer.brands) brands"),
                ("sync", customer.syncAge == nil ? "no good sync yet" : "last good sync \(synced(customer))"),
                ("outbox", "\(customer.outbox.waiting) events wait\(refused)"),
                ("calls", "\(customer.calls) from trunks since the start\(share)"),
            ] + (customer.problem.map { [("problem", $0)] } ?? [])
        return LookupReport.text(lines)
    }

    private static func account(_ customer: GatewayStatus.Customer) -> String {
        customer.sharesAccountOf.map { "that of \($0)" } ?? "its own"
    }

    private static func synced(_ customer: GatewayStatus.Customer) -> String {
        customer.syncAge.map { "\(AgeText.text($0)) ago" } ?? "never"
    }
}
