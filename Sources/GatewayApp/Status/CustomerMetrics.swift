// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import GatewayStore
import MetricsPage

/// Metrics of customers: at most five series a customer, and at most a thousand customers.
struct CustomerMetrics: Sendable {
    let register: CustomerRegister
    let directories: CustomerDirectories
    let reader: LedgerReader

    /// Calls of each customer since the start.
    var counters: [CounterSample] {
        register.customers.flatMap { customer in
            let branded = customer.brandedCallCount
            return [("branded", branded), ("unbranded", customer.callCount - min(branded, customer.callCount))].map {
                CounterSample(
                    name: "herald_customer_calls_total",
                    help: "Calls from trunks by customer, with and without a brand",
                    labels: [MetricLabel("customer", customer.name), MetricLabel("decision", $0.0)], value: $0.1)
            }
        }
    }

    /// Brands, waiting events and the age of the last sync of each customer.
    func gauges() -> [GaugeSample] {
        guard !register.customers.isEmpty else { return [] }
        let waiting = (try? reader.backlogOfCustomers()) ?? [:]
        let numbers = register.customers.map { customer in
            GaugeSample(
                name: "herald_customer_brand_numbers", help: "Numbers that a customer's calls can be branded from",
                labels: [MetricLabel("customer", customer.name)], value: Double(customer.branding.load().index.count))
        }
        let events = register.customers.map { customer in
            GaugeSample(
                name: "herald_customer_events_waiting", help: "Events that wait for a customer's directory",
                labels: [MetricLabel("customer", customer.name)], value: Double(waiting[customer.name] ?? 0))
        }
        let ages = directories.syncAges.compactMap { customer, age in
            age.map {
                GaugeSample(
                    name: "herald_customer_sync_age_seconds",
                    help: "Seconds since the last successful sync of a customer's directory",
                    labels: [MetricLabel("customer", customer)], value: Double($0))
            }
        }
        return numbers + events + ages
    }
}
