// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import ConfigurationFiles
import Foundation
import GatewayStore
package import GatewaySync
package import Logging
import ServiceLifecycle
import Trust

/// Carries out the requests of calls for unknown signers: lists their addresses, fetches their certificates where a regime
/// has `fetch: on`, and checks chains of tokens. Fetches the lists of authorities and of revocations that have an address.
///
/// Results are stored in batches; the publisher brings them to the call path. A request that cannot be carried out is dropped
/// and counted, and the next call of the signer makes it again.
package actor SignerService: Service {
    let settings: HeraldConfiguration.TrustSettings
    let folder: String
    private let requests: SignerRequests
    private let signers: CurrentTrust
    let publisher: TrustPublisher
    let time: ServiceClock
    let warnings: SteadyWarnings
    let logger: Logger
    var intake = SignerIntake()
    /// Nil where nothing is fetched.
    var fetches: SignerFetches?
    var lists: ListFetches
    /// The time of the last look for due lists, by the steady clock.
    var listsOrderedAt = Int64.min / 2
    /// Fetches that run, by address.
    var running: [String: Task<Void, Never>] = [:]
    /// The time of the last look for due refreshes, by the steady clock.
    var refreshedAt = Int64.min / 2
    /// The generations of the stored signers from the last change by another process or a decision to the last own one.
    var generations: ClosedRange<Int64>?
    private var store: (store: SignerStore, file: FileIdentity?)?
    /// The rules for chains, nil where the stored ones are others, with the time at which they were read.
    var policy: (rules: TokenChainPolicy?, readAt: Int64)?
    private var decided: [TokenChainPolicy.Decided] = []
    private var storedAt = Int64.min / 2

    /// Time between two rounds.
    private static let pause = Duration.milliseconds(500)
    /// Seconds between two batches.
    private static let batchTime: Int64 = 2
    /// Seconds for which files of regimes and lists of the store count.
    private static let policyLife: Int64 = 600
    /// Seconds until rules that could not be read are read again.
    private static let policyRetry: Int64 = 10
    /// The most chains that no import has and that leave again.
    static let mostTemporary = 5_000

    /// - Parameters:
    ///   - settings: the regimes and the limit of signers.
    ///   - folder: the state folder.
    ///   - fetch: nil where nothing is fetched.
    package init(
        _ settings: HeraldConfiguration.TrustSettings, folder: String, requests: SignerRequests, signers: CurrentTrust,
        publisher: TrustPublisher, fetch: CertificateFetch? = nil, time: ServiceClock = .system, logger: Logger
    ) {
        self.settings = settings
        self.folder = folder
        self.requests = requests
        self.signers = signers
        self.publisher = publisher
        self.time = time
        self.logger = logger
        warnings = SteadyWarnings(time: time, logger: logger)
        lists = ListFetches(settings.regimes)
        fetches = fetch.map(SignerFetches.init)
    }

    /// Requests that were dropped since the start, by the call path or here.
    var dropped: UInt64 { requests.dropped + intake.dropped }

    /// Works until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.round()
                try? await self.time.sleep(Self.pause)
            }
        }
        for fetch in running.values { fetch.cancel() }
    }

    /// Carries out the requests that wait, and stores the results when a batch is due.
    package func round() async {
        let entries = requests.takeAll()
        guard fetches != nil || !entries.isEmpty || !intake.waiting.isEmpty || !decided.isEmpty else { return }
        await followStore()
        let now = time.steady()
        for entry in entries {
            switch entry.request {
            case .fetch(let address): take(address, of: entry, at: now)
            case .renew(let address): renew(address, of: entry)
            case .check(let chain): await check(chain, at: now)
            }
        }
        await orderLists(at: now)
        await orderRefreshes(at: now)
        startFetches()
        guard now - storedAt >= Self.batchTime else { return }
        storedAt = now
        await storeAddresses()
        await storeFetches()
        await storeChains()
    }

    /// Lists an address, and orders its certificate where the trunk's regimes have `fetch: on`.
    private func take(_ address: String, of entry: SignerRequests.Entry, at now: Int64) {
        guard signers.load().snapshot.signer(at: address)?.key == nil,
            intake.take(address: address, trunk: entry.trunk, at: now)
        else { return }
        if fetches?.want(address, .unknown, under: entry.rules, at: time.now()) == false { intake.drop() }
    }

    /// Orders the present certificate of a known signer.
    private func renew(_ address: String, of entry: SignerRequests.Entry) {
        guard signers.load().snapshot.signer(at: address)?.isRenewed == false else { return }
        if fetches?.want(address, .renewal, under: entry.rules, at: time.now()) == false { intake.drop() }
    }

    /// Begins anew after an import or a decision: addresses may be gone, and chains may count.
    private func followStore() async {
        guard let figures = await publisher.figures, generations?.contains(figures.generation) != true else { return }
        do {
            let reader = try SignerReader(folder: folder)
            intake.begin(stored: try await reader.unknownAddresses())
            if fetches != nil {
                let pauses = try await reader.pauses()
                fetches?.begin(stored: pauses, at: time.now())
            }
            generations = figures.generation...figures.generation
            policy = nil
            dropChains()
        } catch {
            // The publisher reports a file that cannot be read.
        }
    }

    // MARK: Chains

    private func check(_ chain: [String], at now: Int64) async {
        let digest = ChainDigest(of: chain)
        guard signers.load().snapshot.signer(of: digest) == nil, intake.mayCheck(digest, at: now) else { return }
        guard let policy = await tokenPolicy(at: now), let result = await policy.decide(chain) else {
            return intake.drop()
        }
        decided.append(result)
    }

    /// The rules in force; nil while the stored signers have others, or cannot be read.
    func tokenPolicy(at now: Int64) async -> TokenChainPolicy? {
        if let policy, now - policy.readAt < (policy.rules == nil ? Self.policyRetry : Self.policyLife) {
            return policy.rules
        }
        let trust = try? await SignerReader(folder: folder).authorities()
        let sources = RegimeSources(settings.regimes)
        let rules = trust.flatMap { TokenChainPolicy(sources, $0, at: time.now()) }
        policy = (rules, now)
        return rules
    }

    // MARK: Batches

    private func storeAddresses() async {
        let addresses = intake.waiting
        guard !addresses.isEmpty else { return }
        do {
            let added = try await opened().add(unknown: addresses, at: time.now(), limit: settings.signers)
            intake.stored(leftOut: added.leftOut, removed: added.removed)
            // Another fetch of an address without space would end as the first one.
            for address in added.leftOut { fetches?.pause(address, until: time.now() + Self.fullPause) }
            for address in added.removed { fetches?.pause(address, until: nil) }
            publisher.changed()
        } catch {
            refused(error)
        }
    }

    private func storeChains() async {
        guard let generation = policy?.rules?.generation else { return dropChains() }
        let batch = decided.filter { $0.generation == generation }
        // Others were decided by lists that another process has replaced.
        intake.drop(decided.count - batch.count)
        decided = []
        guard !batch.isEmpty else { return }
        let (lasting, temporary) = (batch.filter(\.isLasting), batch.filter { !$0.isLasting })
        do {
            try await opened().add(
                lasting: lasting.map(\.signer), temporary: temporary.map(\.signer), decidedAt: generation,
                at: time.now(), limit: settings.signers, mostTemporary: Self.mostTemporary)
            if !lasting.isEmpty { policy = nil }
            publisher.changed()
        } catch is SignerStore.Overtaken {
            intake.drop(batch.count)
            policy = nil
        } catch {
            intake.drop(batch.count)
            refused(error)
        }
    }

    /// Drops chains that were decided by rules which count no more.
    private func dropChains() {
        intake.drop(decided.count)
        decided = []
    }

    /// The file, opened again after it was replaced.
    func opened() throws -> SignerStore {
        let path = HeraldDatabase.signersPath(in: folder)
        if let store, FileIdentity.standing(of: store.file, at: path) != .gone { return store.store }
        try? store?.store.close()
        store = nil
        let opened = try SignerStore(folder: folder)
        store = (opened, FileIdentity(path))
        return opened
    }

    func refused(_ error: any Error) {
        try? store?.store.close()
        store = nil
        warnings.log("unknown signers of calls cannot be stored, and their calls stay unsigned: \(error)")
    }
}
