// SPDX-License-Identifier: Apache-2.0

import WebPages

/// The values of the page of customers.
struct CustomersValues: Sendable {
    struct Row: Sendable {
        let name: String
        /// The list of its calls.
        let path: String
        let numbers: Int
        let brands: Int
        let account: String
        let sync: String
        let gate: String?
        let waiting: Int
        let calls: UInt64
        let share: String
    }

    let rows: [Row]
}

extension GatewayPages {
    /// The customers with their brands, events and calls.
    func customers() async throws -> PageResult {
        let rows = try await source.customers().map { customer in
            CustomersValues.Row(
                name: customer.name, path: "/calls?customer=" + SearchFields.encoded(customer.name),
                numbers: customer.numbers, brands: customer.brands,
                account: customer.sharesAccountOf.map { "that of \($0)" } ?? "its own",
                sync: customer.syncAge.map { "\(PageTime.span($0)) ago" } ?? "never", gate: customer.gate,
                waiting: customer.waiting, calls: customer.calls,
                share: customer.calls == 0 ? "–" : "\(customer.branded * 100 / customer.calls) %")
        }
        return .page(template: "customers", title: "Customers", content: CustomersValues(rows: rows))
    }
}
