// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives
import WebPages

/// The values of the page of customers.
struct CustomersValues: Sendable {
    struct Row: Sendable {
        let name: String
        /// The list of its calls.
        let path: String
        /// The form that shows how a number would ring at its phones.
        let preview: String
        let numbers: Int
        let brands: Int
        let account: String
        let sync: String
        let problem: String?
        let waiting: Int
        let refused: Int?
        let calls: UInt64
        let share: String
    }

    let rows: [Row]
}

extension GatewayPages {
    /// The customers with their brands, events and calls, those with a problem first.
    func customers() async throws -> PageResult {
        let all = try await source.customers()
        let rows = (all.filter { $0.problem != nil } + all.filter { $0.problem == nil }).map(CustomersValues.Row.init)
        return .page(template: "customers", title: "Customers", content: CustomersValues(rows: rows))
    }
}

extension CustomersValues.Row {
    init(_ customer: GatewayStatus.Customer) {
        name = customer.name
        path = PagePath.with("/calls", ["customer": customer.name])
        preview = PagePath.with("/preview", ["customer": customer.name])
        numbers = customer.numbers
        brands = customer.brands
        account = customer.sharesAccountOf.map { "that of \($0)" } ?? "its own"
        sync = customer.syncAge.map { "\(SpanText.of($0)) ago" } ?? "never"
        problem = customer.problem.map(PageTroubles.sentence)
        waiting = customer.outbox.waiting
        refused = customer.outbox.refused == 0 ? nil : customer.outbox.refused
        calls = customer.calls
        share = customer.brandedPercent.map { "\($0) %" } ?? "–"
    }
}
