// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle
import Synchronization

/// Runs the syncs and the event senders of all customers, and replaces those that a reload changes.
///
/// Each account has services of its own: a silent directory of one customer delays no event of another. The starts are
/// spread, so that a thousand customers do not sync at once. A removed customer's events are sent until none waits. Any
/// thread.
final class CustomerDirectories: ReloadablePart {
    private struct Running {
        let account: CustomerAccount
        /// The contents of the files of `tls`.
        let files: [Data?]
        let names: [String]
        let senders: [String: EventSender]
        let services: ReplaceableServices
    }

    private struct State {
        var customers: [HeraldConfiguration.Customer]
        var running: [HeraldConfiguration.DirectoryAccess: Running] = [:]
    }

    private let register: CustomerRegister
    private let database: HeraldDatabase
    private let folder: String
    private let state: Mutex<State>
    private let logger: Logger
    private let (added, adding) = AsyncStream.makeStream(of: ReplaceableServices.self)
    /// Time between the starts of two accounts.
    static let spread = Duration.milliseconds(60)

    init(_ configuration: HeraldConfiguration, _ register: CustomerRegister, _ database: HeraldDatabase, logger: Logger)
    {
        self.register = register
        self.database = database
        self.logger = logger
        folder = configuration.state
        state = Mutex(State(customers: []))
        use(configuration.customers)
    }

    /// The services that run all accounts, and the one that wakes senders.
    var services: [any Service] {
        [
            AccountServices(added: added),
            CustomerOutboxWatch(database: database, logger: logger) { [self] in sender(of: $0) },
        ]
    }

    /// The number of customers.
    var customerCount: Int { state.withLock { $0.customers.count } }

    /// The account of each customer, by name.
    var accounts: [CustomerMetrics.Account] {
        let running = state.withLock { Array($0.running.values) }
        return running.flatMap { running in
            running.names.map { name in
                CustomerMetrics.Account(
                    customer: name, url: running.account.access.url, current: running.account.current,
                    sync: running.account.sync)
            }
        }.sorted { $0.customer < $1.customer }
    }

    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        let present = state.withLock { $0 }
        let isRenewed = present.running.contains { access, running in access.tls.contents != running.files }
        guard isRenewed || next.customers != present.customers else { return nil }
        // Accounts that stay are opened again with their renewed files.
        for access in Set(next.customers.map(\.directory)) { _ = try access.settings(version: HeraldVersion.current) }
        let opened = try register.open(next.customers)
        return { [self] in
            for account in opened { await account.load() }
            use(next.customers)
            register.keep(next.customers)
            logger.notice("customers have their new settings", metadata: ["customers": "\(next.customers.count)"])
        }
    }

    func reloaded() async {
        for running in state.withLock({ $0.running.values }) { await running.account.sync.retryRefusedKey() }
    }

    private func sender(of customer: String) -> EventSender? {
        state.withLock { state in state.running.values.lazy.compactMap { $0.senders[customer] }.first }
    }

    /// Starts, replaces and ends accounts.
    private func use(_ customers: [HeraldConfiguration.Customer]) {
        let members = Dictionary(grouping: customers, by: \.directory).mapValues { $0.map(\.name) }
        state.withLock { state in
            state.customers = customers
            for (access, running) in state.running
            where members[access] != running.names || access.tls.contents != running.files {
                state.running[access] = change(running, to: members[access] ?? [])
            }
            var started = 0
            for customer in customers where state.running[customer.directory] == nil {
                guard let account = register.account(customer.directory) else { continue }
                let names = members[customer.directory] ?? []
                state.running[customer.directory] = begin(account, names, after: Self.spread * started)
                started += 1
            }
        }
        let folders = customers.compactMap { customer in
            register.account(customer.directory).map { (customer: customer.name, folder: $0.folder) }
        }
        guard !customers.isEmpty else { return }
        do {
            try CustomerFolders.link(folders, in: folder)
        } catch {
            logger.warning("commands find no brands of customers", metadata: ["error": "\(error)"])
        }
    }

    private func begin(_ account: CustomerAccount, _ names: [String], after delay: Duration) -> Running {
        let senders = names.reduce(into: [:]) { $0[$1] = account.sender(of: $1, database) }
        let all = Array(senders.values)
        let services = ReplaceableServices(logger: logger) {
            await cancelWhenGracefulShutdown { try? await Task.sleep(for: delay) }
            return account.services(all)
        }
        adding.yield(services)
        return Running(
            account: account, files: account.access.tls.contents, names: names, senders: senders, services: services)
    }

    /// Replaces the services of an account whose customers or files have changed; nil once it has no customer.
    ///
    /// Clients and senders have ended with their services, so new ones take over. Removed customers keep their senders: for
    /// as long as the account, or until nothing of theirs waits.
    private func change(_ running: Running, to names: [String]) -> Running? {
        let account: CustomerAccount
        do {
            account = try register.reopened(running.account)
        } catch {
            logger.error(
                "customers keep their old account, because its connection cannot be opened again: \(error); restart herald",
                metadata: ["customers": "\(running.names.joined(separator: ", "))"])
            return running
        }
        let all = Set(names).union(running.senders.keys).sorted()
        let senders = all.reduce(into: [:]) { $0[$1] = account.sender(of: $1, database, polls: names.isEmpty) }
        let (services, sending) = (running.services, Array(senders.values))
        guard names.isEmpty else {
            services.replace { account.services(sending) }
            return Running(
                account: account, files: account.access.tls.contents, names: names, senders: senders, services: services
            )
        }
        let last = LastEvents(customers: all, reader: LedgerReader(database)) { services.replace { [] } }
        services.replace { [account.client] + sending + [last] }
        return nil
    }
}

/// Runs the services of each account until graceful shutdown.
private struct AccountServices: Service {
    let added: AsyncStream<ReplaceableServices>

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await services in added.cancelOnGracefulShutdown() {
                group.addTask { try? await services.run() }
            }
        }
    }
}

/// Wakes the senders of customers with due events, once a second; one query replaces a query of each sender.
private struct CustomerOutboxWatch: Service {
    let database: HeraldDatabase
    let logger: Logger
    let sender: @Sendable (String) -> EventSender?

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let now = ServiceClock.system.now()
                let due = (try? await EventOutboxStore.customersWithDueEvents(in: database, now: now)) ?? []
                for customer in due { sender(customer)?.wake() }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
