// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import GatewaySync
import Logging
import Primitives
import ServiceLifecycle
import Synchronization

/// The directory accounts in force: that of the section `directory`, and those of customers.
///
/// Each account has services of its own: a silent directory of one customer delays no event of another. The starts are
/// spread, so that a thousand customers do not sync at once. A reload replaces the accounts whose settings or files have
/// changed. Old services end first: requests in flight get their responses, an unfinished sync is rolled back. Events
/// wait in the outbox meanwhile, and each keeps its key. A removed customer's events are sent until none waits. Any thread.
final class DirectoryAccounts: ReloadablePart {
    private struct State {
        var customers: [HeraldConfiguration.Customer] = []
        var accounts: [AccountKey: DirectoryAccount] = [:]
        /// The account of each customer; nil is the key of the section `directory`.
        var owners: [String?: DirectoryAccount] = [:]
        /// The services of each account, also after its end: it may come back.
        var services: [AccountKey: ReplaceableServices] = [:]
        /// The source of debug uploads.
        var report: GatewayStatusReport?
    }

    private let start: GatewayStart
    private let stored: StoredState
    private let troubles: StateTroubles
    private let whileSyncing: @Sendable (Bool) -> Void
    private let state = Mutex(State())
    private let logger = Logger(label: "herald.customers")
    private let (added, adding) = AsyncStream.makeStream(of: ReplaceableServices.self)
    /// Time between the starts of two accounts.
    private static let spread = Duration.milliseconds(60)

    /// Builds the accounts of the start; their services wait for `services`.
    ///
    /// - Parameter whileSyncing: called with `true` before a sync and `false` after it.
    /// - Throws: errors of API keys and of the files of `tls`.
    init(
        _ start: GatewayStart, _ stored: StoredState, _ troubles: StateTroubles,
        whileSyncing: @escaping @Sendable (Bool) -> Void
    ) throws {
        self.start = start
        self.stored = stored
        self.troubles = troubles
        self.whileSyncing = whileSyncing
        let accounts = try start.configuration.accounts.compactMap { try account($0) }
        use(accounts, for: start.configuration.customers)
        // Weak, because the accounts have the recorder: a circle would keep the sockets of an ended gateway open.
        stored.recorder.onUnknownCaller { [weak self] in self?.owner($1)?.lookup?.ended(callFrom: $0) }
    }

    /// The accounts in force, in no order.
    var all: [DirectoryAccount] { state.withLock { Array($0.accounts.values) } }

    /// The account of a customer, or that of the section `directory` for nil.
    func owner(_ customer: String?) -> DirectoryAccount? { state.withLock { $0.owners[customer] } }

    /// The services that run all accounts, and the one that wakes senders.
    ///
    /// - Parameter report: the source of debug uploads.
    func services(_ report: GatewayStatusReport) -> [any Service] {
        state.withLock { $0.report = report }
        return [
            AccountServices(added: added),
            CustomerOutboxWatch(database: stored.database) { [self] in owner($0)?.senders[$0] },
        ]
    }

    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        let present = state.withLock { $0 }
        let wanted = next.accounts
        let keys = Set(wanted.map(\.key))
        let changed = wanted.filter { present.accounts[$0.key]?.settings != $0 }
        let removed = present.accounts.values.filter { !keys.contains($0.settings.key) }
        guard !changed.isEmpty || !removed.isEmpty || next.customers != present.customers else { return nil }
        let loads = try stored.accounts.open(wanted)
        let accounts = try changed.compactMap { try account($0, replacing: present.accounts[$0.key], isReload: true) }
        return { [self] in
            for load in loads { await load() }
            for account in accounts { await account.takeOver() }
            for account in accounts where account.isAtOther(directory: present.accounts[.usual]) {
                account.sync.syncNow(full: true)
            }
            use(accounts, without: removed.compactMap(ending), for: next.customers)
            stored.accounts.keep(next.customers)
            if (removed.map(\.settings.key) + changed.map(\.key)).contains(.usual) {
                start.logger.notice(
                    "directory and logos have their new settings",
                    metadata: ["directory": "\(next.directory.map { ShownURL.text($0.url) } ?? "none")"])
            }
            if !removed.allSatisfy(\.isUsual) || !accounts.allSatisfy(\.isUsual) || next.customers != present.customers
            {
                logger.notice("customers have their new settings", metadata: ["customers": "\(next.customers.count)"])
            }
        }
    }

    /// Reads keys and certificates, and makes neither connections nor folders of new customers.
    func check(_ next: HeraldConfiguration) throws {
        let present = state.withLock { $0 }
        for settings in next.accounts where present.accounts[settings.key]?.settings != settings {
            _ = try settings.access.settings(version: HeraldVersion.current)
        }
    }

    func reloaded() async {
        for account in all { await account.sync.retryRefusedKey() }
    }

    /// Makes an account with connections of its own; nil where its brands are not open.
    private func account(
        _ settings: AccountSettings, replacing earlier: DirectoryAccount? = nil, isReload: Bool = false
    ) throws -> DirectoryAccount? {
        guard let brands = stored.accounts.brands(of: settings.key) ?? earlier?.brands else { return nil }
        let device = DeviceIdentity(
            id: deviceID(in: brands.folder), platform: settings.access.platform,
            systemVersion: ProcessInfo.processInfo.operatingSystemVersionString, version: HeraldVersion.number)
        return try DirectoryAccount(
            settings, brands, device, stored.database, replacing: earlier, isReload: isReload,
            whileSyncing: whileSyncing)
    }

    /// The gateway's id at the directory; an id for this run where the folder holds none and accepts none.
    private func deviceID(in folder: String) -> String {
        do throws(DeviceIdentityError) {
            return try DeviceIdentity.id(inStateFolder: folder)
        } catch {
            troubles.add("\(error); until the next start the directory sees another device")
            let spare = folder == start.configuration.state ? start.configuration.runtime : folder
            return (try? DeviceIdentity.id(inStateFolder: spare)) ?? UUID().uuidString.lowercased()
        }
    }

    /// A removed account that sends the events of its customers; nil where it cannot be opened again.
    private func ending(_ account: DirectoryAccount) -> DirectoryAccount? {
        guard !account.isUsual else { return account }
        var settings = account.settings
        settings.customers = []
        do {
            return try self.account(settings, replacing: account)
        } catch {
            logger.error(
                "customers keep their old account, because its connection cannot be opened again: \(error); restart herald",
                metadata: ["customers": "\(account.settings.customers.joined(separator: ", "))"])
            return nil
        }
    }

    /// Puts accounts in force, the new ones one after the other, and ends others.
    private func use(
        _ accounts: [DirectoryAccount], without removed: [DirectoryAccount] = [],
        for customers: [HeraldConfiguration.Customer]
    ) {
        state.withLock { state in
            state.customers = customers
            for account in removed {
                state.accounts[account.settings.key] = nil
                state.services[account.settings.key]?.replace { [weak self] in self?.last(of: account) ?? [] }
            }
            var delay = Duration.zero
            for account in accounts {
                let key = account.settings.key
                let isNew = state.accounts.updateValue(account, forKey: key) == nil
                services(of: key, in: &state).replace { [weak self, delay] in
                    await cancelWhenGracefulShutdown { try? await Task.sleep(for: delay) }
                    return account.services + (self?.uploader(of: account) ?? [])
                }
                if isNew { delay += Self.spread }
            }
            state.owners = state.accounts.values.reduce(into: [:]) { owners, account in
                for customer in account.customers { owners[customer] = account }
            }
        }
        let folders = customers.compactMap { customer in
            owner(customer.name).map { (customer: customer.name, folder: $0.brands.folder) }
        }
        guard !customers.isEmpty else { return }
        do {
            try CustomerFolders.link(folders, in: start.configuration.state)
        } catch {
            logger.warning("commands find no brands of customers", metadata: ["error": "\(error)"])
        }
    }

    private func services(of key: AccountKey, in state: inout State) -> ReplaceableServices {
        if let known = state.services[key] { return known }
        let services = ReplaceableServices(logger: logger)
        state.services[key] = services
        adding.yield(services)
        return services
    }

    private func uploader(of account: DirectoryAccount) -> [any Service] {
        guard let report = state.withLock({ $0.report }) else { return [] }
        return account.debugUploader(report.debugContent(of: account, start.log.recent)).map { [$0] } ?? []
    }

    /// The services of a removed account: its senders, until nothing of its customers waits.
    private func last(of account: DirectoryAccount) -> [any Service] {
        let customers = account.senders.keys.compactMap { $0 }
        guard !customers.isEmpty else { return [] }
        let end = LastEvents(customers: customers, reader: LedgerReader(stored.database)) { [weak self] in
            self?.state.withLock { state in
                // The account may be in the configuration again.
                guard state.accounts[account.settings.key] == nil else { return }
                state.services[account.settings.key]?.replace { [] }
            }
        }
        return account.sending + [end]
    }
}

extension DirectoryAccount {
    fileprivate var isUsual: Bool { settings.key == .usual }

    /// The customers of the account; nil for calls without one.
    fileprivate var customers: [String?] { isUsual ? [nil] : settings.customers }

    /// Whether a reload has put the section `directory` at another directory, or given it another key.
    ///
    /// Another directory has records of its own, and another key perhaps another account.
    fileprivate func isAtOther(directory earlier: DirectoryAccount?) -> Bool {
        let (old, new) = (earlier?.settings.access, settings.access)
        return isUsual && (old?.url != new.url || old?.key != new.key)
    }
}
