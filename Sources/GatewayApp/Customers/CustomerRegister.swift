// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayStore
import Logging
import Synchronization

/// The directory accounts of all customers, and the customers as the call path sees them.
///
/// Customers with the same directory settings share one account, so one index in memory. Accounts with the same brands share
/// the tables of the index. A reload keeps the accounts and customers that stay. Any thread.
final class CustomerRegister: Sendable {
    private struct State {
        var accounts: [HeraldConfiguration.DirectoryAccess: CustomerAccount] = [:]
        var customers: [String: CallCustomer] = [:]
    }

    private let start: GatewayStart
    private let troubles: StateTroubles
    private let state = Mutex(State())
    /// Held while an index is compared and put in force, so that two equal ones of one moment find each other.
    private let publishing = Mutex<Void>(())
    private let whileSyncing = Mutex<@Sendable (Bool) -> Void>({ _ in })

    /// Opens the accounts of the start and loads their brands, four at a time.
    ///
    /// - Throws: errors of API keys and of the files of `tls`.
    init(_ start: GatewayStart, _ troubles: StateTroubles) async throws {
        self.start = start
        self.troubles = troubles
        let opened = try open(start.configuration.customers)
        await withTaskGroup(of: Void.self) { group in
            var rest = opened[...]
            for _ in 0..<4 { if let next = rest.popFirst() { group.addTask { await next.load() } } }
            while await group.next() != nil { if let next = rest.popFirst() { group.addTask { await next.load() } } }
        }
    }

    /// Calls `action` with `true` before each sync and `false` after it.
    func use(whileSyncing action: @escaping @Sendable (Bool) -> Void) { whileSyncing.withLock { $0 = action } }

    /// Makes an account with connections of its own that continues another one; its services have ended.
    ///
    /// - Throws: errors of the files of `tls`.
    func reopened(_ account: CustomerAccount) throws -> CustomerAccount {
        let next = try CustomerAccount(
            account.access, of: account.name, start, troubles, continuing: account,
            sharing: { [self] in share($0, $1) },
            whileSyncing: { [self] in whileSyncing.withLock { $0 }($0) })
        state.withLock { if $0.accounts[account.access] != nil { $0.accounts[account.access] = next } }
        return next
    }

    /// Opens the accounts that are not open yet.
    ///
    /// - Returns: the accounts whose brands are not loaded: the new ones, and those that a refused reload opened.
    func open(_ customers: [HeraldConfiguration.Customer]) throws -> [CustomerAccount] {
        for customer in customers where account(customer.directory) == nil {
            let account = try CustomerAccount(
                customer.directory, of: customer.name, start, troubles, sharing: { [self] in share($0, $1) },
                whileSyncing: { [self] in whileSyncing.withLock { $0 }($0) })
            state.withLock { $0.accounts[customer.directory] = account }
        }
        return Set(customers.map(\.directory)).compactMap(account).filter { !$0.isLoaded }
    }

    /// The indexes in force, one of each account.
    var indexes: [BrandIndex] { state.withLock { $0.accounts.values.map { $0.current.load().index } } }

    /// Puts an index in force, in the memory of an equal one of another account.
    private func share(_ index: BrandIndex, _ store: (BrandIndex) -> Void) {
        publishing.withLock { _ in store(index.shared(with: indexes)) }
    }

    /// Forgets accounts without a customer.
    func keep(_ customers: [HeraldConfiguration.Customer]) {
        let (names, accounts) = (Set(customers.map(\.name)), Set(customers.map(\.directory)))
        state.withLock { state in
            state.accounts = state.accounts.filter { accounts.contains($0.key) }
            state.customers = state.customers.filter { names.contains($0.key) }
        }
    }

    /// The account with these settings; nil for one that is not open.
    func account(_ access: HeraldConfiguration.DirectoryAccess) -> CustomerAccount? {
        state.withLock { $0.accounts[access] }
    }

    /// A customer for the call path; the same object as long as its account stays.
    ///
    /// Nil without its account.
    func customer(_ customer: HeraldConfiguration.Customer) -> CallCustomer? {
        state.withLock { state in
            guard let account = state.accounts[customer.directory] else { return nil }
            if let known = state.customers[customer.name], known.branding === account.current { return known }
            let next = CallCustomer(name: customer.name, branding: account.current)
            state.customers[customer.name] = next
            return next
        }
    }

    /// The customers that calls have been routed to.
    var customers: [CallCustomer] { state.withLock { $0.customers.values.sorted { $0.name < $1.name } } }
}
