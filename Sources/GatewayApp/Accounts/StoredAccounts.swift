// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import GatewaySync
import Logging
import Synchronization

/// The brands of all directory accounts, and the customers as the call path sees them.
///
/// Customers with the same directory settings share one account, so one index in memory. Customers' accounts with the same
/// brands share the tables of the index. A reload keeps the accounts and customers that stay. Any thread.
final class StoredAccounts: Sendable {
    private struct State {
        var brands: [HeraldConfiguration.DirectoryAccess: AccountBrands] = [:]
        var customers: [String: CallCustomer] = [:]
    }

    /// The brands of calls without a customer: of the section `directory`, or of a file.
    let usual: AccountBrands
    private let configuration: HeraldConfiguration
    private let state = Mutex(State())
    /// Held while an index is compared and put in force, so that two equal ones of one moment find each other.
    private let publishing = Mutex<Void>(())

    /// Opens the accounts of customers and loads their brands, four at a time.
    ///
    /// - Parameter usual: the loaded brands of calls without a customer.
    /// - Throws: errors of API keys and of the files of `tls`.
    init(_ usual: AccountBrands, _ configuration: HeraldConfiguration) async throws {
        self.usual = usual
        self.configuration = configuration
        let opened = try open(configuration.accounts)
        await withTaskGroup(of: Void.self) { group in
            var rest = opened[...]
            for _ in 0..<4 { if let next = rest.popFirst() { group.addTask { await next() } } }
            while await group.next() != nil { if let next = rest.popFirst() { group.addTask { await next() } } }
        }
    }

    /// Opens the accounts that are not open yet.
    ///
    /// - Returns: the loads of the accounts without brands: the new ones, and those that a refused reload opened.
    func open(_ accounts: [AccountSettings]) throws -> [@Sendable () async -> Void] {
        try accounts.filter { $0.key != .usual }.compactMap { settings in
            let brands = try brands(of: settings.key) ?? opened(settings)
            guard !brands.isLoaded else { return nil }
            return { await brands.loadOrReplace(obeysVoipDialer: settings.access.voipDialer == .obey) }
        }
    }

    private func opened(_ settings: AccountSettings) throws -> AccountBrands {
        let account = try settings.access.settings(version: HeraldVersion.current).account
        let folder = CustomerFolders.path(ofAccount: account, in: configuration.state)
        var logger = Logger(label: "herald.customers")
        logger[metadataKey: "customer"] = "\(settings.customers.first ?? "")"
        let brands = AccountBrands(
            in: folder, BrandCacheStore(folder: folder), configuration, logos: settings.logos, partOf: usual,
            logger: logger,
            sharing: { [self] in share($0, $1) })
        state.withLock { $0.brands[settings.access] = brands }
        return brands
    }

    /// The brands of an account; nil for one that is not open.
    func brands(of key: AccountKey) -> AccountBrands? {
        switch key {
        case .usual: usual
        case .customers(let access): state.withLock { $0.brands[access] }
        }
    }

    /// Puts an index in force, in the memory of an equal one of another account.
    private func share(_ index: BrandIndex, _ store: (BrandIndex) -> Void) {
        publishing.withLock { _ in
            let others = state.withLock { $0.brands.values.map { $0.current.load().index } }
            store(index.shared(with: others))
        }
    }

    /// Forgets accounts without a customer.
    func keep(_ customers: [HeraldConfiguration.Customer]) {
        let (names, accounts) = (Set(customers.map(\.name)), Set(customers.map(\.directory)))
        state.withLock { state in
            state.brands = state.brands.filter { accounts.contains($0.key) }
            state.customers = state.customers.filter { names.contains($0.key) }
        }
    }

    /// A customer for the call path; the same object as long as its account stays.
    ///
    /// Nil without its account.
    func customer(_ customer: HeraldConfiguration.Customer) -> CallCustomer? {
        state.withLock { state in
            guard let brands = state.brands[customer.directory] else { return nil }
            if let known = state.customers[customer.name], known.branding === brands.current { return known }
            let next = CallCustomer(name: customer.name, branding: brands.current)
            state.customers[customer.name] = next
            return next
        }
    }

    /// The customers that calls have been routed to.
    var customers: [CallCustomer] { state.withLock { $0.customers.values.sorted { $0.name < $1.name } } }
}
