// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
package import CallPath
import ConfigurationFiles
package import GatewayStore
package import GatewaySync
import Host

/// Metrics of customers: at most five series a customer, and at most a thousand customers.
package struct CustomerMetrics: Sendable {
    /// The account of a customer, which other customers may share.
    package struct Account: Sendable {
        /// Its name.
        package let customer: String
        /// The URL of its directory.
        let url: String
        let current: CurrentBranding
        let sync: SyncService

        /// - Parameter url: the URL of its directory.
        package init(customer: String, url: String, current: CurrentBranding, sync: SyncService) {
            self.customer = customer
            self.url = url
            self.current = current
            self.sync = sync
        }
    }

    /// The customers that calls have been routed to.
    let customers: @Sendable () -> [CallCustomer]
    /// The indexes in force, one of each account.
    let indexes: @Sendable () -> [BrandIndex]
    /// The number of configured customers.
    let count: @Sendable () -> Int
    /// The account of each customer, by name.
    let accounts: @Sendable () -> [Account]
    let reader: LedgerReader

    /// - Parameters:
    ///   - customers: the customers that calls have been routed to.
    ///   - indexes: the indexes in force, one of each account.
    ///   - count: the number of configured customers.
    ///   - accounts: the account of each customer, by name.
    package init(
        customers: @escaping @Sendable () -> [CallCustomer], indexes: @escaping @Sendable () -> [BrandIndex],
        count: @escaping @Sendable () -> Int, accounts: @escaping @Sendable () -> [Account], reader: LedgerReader
    ) {
        self.customers = customers
        self.indexes = indexes
        self.count = count
        self.accounts = accounts
        self.reader = reader
    }

    /// The account of a customer; nil for an unknown one.
    func account(of customer: String) -> Account? { accounts().first { $0.customer == customer } }

    /// Calls of each customer since the start.
    var counters: [CounterSample] {
        customers().flatMap { customer in
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
        let indexes = indexes()
        guard !indexes.isEmpty else { return nil }
        let sets = Dictionary(indexes.map { ($0.memoryIdentity, $0.memory) }) { first, _ in first }
        return GatewayStatus.Customers(
            count: count(), accounts: indexes.count, brandSets: sets.count,
            memory: sets.values.reduce(0, +), troubled: accounts().count { problem(of: $0) != nil })
    }

    /// The names that operators may use.
    var known: KnownCustomers { KnownCustomers(accounts().map(\.customer)) }

    /// The customers for pages and commands, by name.
    ///
    /// - Parameter backlog: their events on the way, by customer.
    func list(_ backlog: [String: GatewayStatus.Outbox]) -> [GatewayStatus.Customer] {
        let counts = Dictionary(customers().map { ($0.name, $0) }) { first, _ in first }
        var first: [ObjectIdentifier: String] = [:]
        return accounts().map { account in
            let (name, snapshot) = (account.customer, account.current.load())
            // Customers with one account have one sync.
            let identity = ObjectIdentifier(account.sync)
            defer { first[identity] = first[identity] ?? name }
            return GatewayStatus.Customer(
                name: name, directory: account.url, numbers: snapshot.index.count,
                brands: snapshot.index.brandCount, sharesAccountOf: first[identity],
                gate: snapshot.gates.closed?.description, problem: problem(of: account),
                syncAge: account.sync.successAge, outbox: backlog[name] ?? .init(),
                calls: counts[name]?.callCount ?? 0, branded: counts[name]?.brandedCallCount ?? 0)
        }
    }

    /// Why calls of an account have no brands, or those of an old sync; nil normally.
    private func problem(of account: Account) -> String? {
        let sync = account.sync.status
        let failure = sync.lastError.map { error in
            sync.failuresInARow > 1
                ? "\(sync.failuresInARow) syncs in a row have failed: \(error)" : "the last sync has failed: \(error)"
        }
        let gate = account.current.load().gates.closed.map { "calls pass without a brand (\($0))" }
        let problems = [gate, failure].compactMap { $0 }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// Brands, waiting events and the age of the last sync of each customer.
    func gauges() -> [GaugeSample] {
        guard !customers().isEmpty else { return [] }
        let waiting = (try? reader.backlogOfCustomers()) ?? [:]
        let numbers = customers().map { customer in
            GaugeSample(
                name: "herald_customer_brand_numbers", help: "Numbers that a customer's calls can be branded from",
                labels: [MetricLabel("customer", customer.name)], value: Double(customer.branding.load().index.count))
        }
        let events = customers().map { customer in
            GaugeSample(
                name: "herald_customer_events_waiting", help: "Events that wait for a customer's directory",
                labels: [MetricLabel("customer", customer.name)], value: Double(waiting[customer.name]?.waiting ?? 0))
        }
        let ages = accounts().map { account in
            GaugeSample(
                name: "herald_customer_sync_age_seconds",
                help: """
                    Seconds since the last successful sync of a customer's directory, or since the start before the first
                    """,
                labels: [MetricLabel("customer", account.customer)], value: Double(account.sync.age))
        }
        return numbers + events + ages
    }
}
