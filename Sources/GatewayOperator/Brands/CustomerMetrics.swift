// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayStore
import GatewaySync
import Host
import Primitives

/// Metrics of customers: at most five series a customer, and at most a thousand customers.
struct CustomerMetrics: Sendable {
    /// The customers that calls have been routed to.
    let routed: @Sendable () -> [CallCustomer]
    /// The directory accounts in force.
    let accounts: @Sendable () -> [DirectoryAccount]
    let reader: LedgerReader

    /// Each customer with its account, which others may share, by name.
    private var owners: [(customer: String, account: DirectoryAccount)] {
        accounts().flatMap { account in account.settings.customers.map { ($0, account) } }.sorted { $0.0 < $1.0 }
    }

    /// The account of a customer; nil for an unknown one.
    func account(of customer: String) -> DirectoryAccount? {
        accounts().first { $0.settings.customers.contains(customer) }
    }

    /// Calls of each customer since the start.
    var counters: [CounterSample] {
        routed().flatMap { customer in
            let branded = customer.brandedCallCount
            return [("branded", branded), ("unbranded", customer.callCount - min(branded, customer.callCount))].map {
                CounterSample(
                    name: "herald_customer_calls_total",
                    help: "Calls from trunks by customer, with and without a brand",
                    labels: [MetricLabel("customer", customer.name), MetricLabel("decision", $0.0)], value: $0.1)
            }
        }
    }

    /// How customers share accounts and brands; nil without customers.
    var status: GatewayStatus.Customers? {
        let indexes = accounts().filter { $0.settings.key != .usual }.map { $0.brands.current.load().index }
        guard !indexes.isEmpty else { return nil }
        let sets = Dictionary(indexes.map { ($0.memoryIdentity, $0.memory) }) { first, _ in first }
        return GatewayStatus.Customers(
            count: owners.count, accounts: indexes.count, brandSets: sets.count,
            memory: sets.values.reduce(0, +), troubled: owners.count { problem(of: $0.account) != nil })
    }

    /// The names that operators may use.
    var known: KnownCustomers { KnownCustomers(owners.map(\.customer)) }

    /// The customers for pages and commands, by name.
    ///
    /// - Parameter backlog: their events on the way, by customer.
    func list(_ backlog: [String: EventBacklog]) -> [GatewayStatus.Customer] {
        let counts = Dictionary(routed().map { ($0.name, $0) }) { first, _ in first }
        var first: [ObjectIdentifier: String] = [:]
        return owners.map { name, account in
            let snapshot = account.brands.current.load()
            // Customers with one account have one sync.
            let identity = ObjectIdentifier(account)
            defer { first[identity] = first[identity] ?? name }
            return GatewayStatus.Customer(
                name: name, directory: ShownURL.text(account.settings.access.url), numbers: snapshot.index.count,
                brands: snapshot.index.brandCount, sharesAccountOf: first[identity],
                gate: snapshot.gates.closed?.description, problem: problem(of: account),
                syncAge: account.sync.successAge, outbox: backlog[name] ?? .init(),
                calls: counts[name]?.callCount ?? 0, branded: counts[name]?.brandedCallCount ?? 0)
        }
    }

    /// Why calls of an account have no brands, or those of an old sync; nil normally.
    private func problem(of account: DirectoryAccount) -> String? {
        let sync = account.sync.status
        let failure = sync.lastError.map { error in
            sync.failuresInARow > 1
                ? "\(sync.failuresInARow) syncs in a row have failed: \(error)" : "the last sync has failed: \(error)"
        }
        let gate = account.brands.current.load().gates.closed.map { "calls pass without a brand (\($0))" }
        let problems = [gate, failure].compactMap { $0 }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// Brands, waiting events and the age of the last sync of each customer.
    func gauges() -> [GaugeSample] {
        guard !routed().isEmpty else { return [] }
        let waiting = (try? reader.backlogOfCustomers()) ?? [:]
        let numbers = routed().map { customer in
            GaugeSample(
                name: "herald_customer_brand_numbers", help: "Numbers that a customer's calls can be branded from",
                labels: [MetricLabel("customer", customer.name)], value: Double(customer.branding.load().index.count))
        }
        let events = routed().map { customer in
            GaugeSample(
                name: "herald_customer_events_waiting", help: "Events that wait for a customer's directory",
                labels: [MetricLabel("customer", customer.name)], value: Double(waiting[customer.name]?.waiting ?? 0))
        }
        let ages = owners.map { customer, account in
            GaugeSample(
                name: "herald_customer_sync_age_seconds",
                help: """
                    Seconds since the last successful sync of a customer's directory, or since the start before the first
                    """,
                labels: [MetricLabel("customer", customer)], value: Double(account.sync.age))
        }
        return numbers + events + ages
    }
}
