// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
package import ConfigurationFiles
import GatewayConfiguration
package import GatewayStore
package import GatewaySync
package import Logging
import Synchronization

/// The stored brands of a directory account and the snapshot that its calls see.
///
/// Both outlive the connections of an account, which a reload may replace. The brands are empty before they are loaded.
/// Any thread.
package final class AccountBrands: Sendable {
    /// The folder of brands, device id and tokens.
    package let folder: String
    /// The brands and gates of the account's calls.
    package let current: CurrentBranding
    /// The one publisher of the snapshot.
    package let publisher: BrandingPublisher
    let store: BrandCacheStore
    let rebuild: IndexRebuild
    let logger: Logger
    private let indexFile: BrandCacheIndexFile
    private let regions: [Region]
    private let total: AccountBrands?
    private let held = HeldLogos()
    private let state = Mutex((isLoaded: false, wantsFullSync: false))

    /// - Parameters:
    ///   - logos: nil where logos are neither fetched nor served.
    ///   - total: the account that counts the traffic of all logos.
    ///   - share: puts an index in force in the memory of an equal one.
    package init(
        in folder: String, _ store: BrandCacheStore, _ configuration: HeraldConfiguration,
        logos: HeraldConfiguration.Logos?, partOf total: AccountBrands? = nil, logger: Logger,
        sharing share: @escaping BrandingPublisher.Share = { $1($0) }
    ) {
        self.folder = folder
        self.store = store
        self.logger = logger
        self.total = total
        regions = configuration.trunks.compactMap(\.region).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        let profile = configuration.renderingProfile
        let indexFile = BrandCacheIndexFile(
            store, folder: folder, profile: profile, logos: { [held] in held.services.withLock { $0?.store } },
            logger: logger)
        self.indexFile = indexFile
        rebuild = IndexRebuild { try await indexFile.rebuild() }
        current = CurrentBranding(BrandingSnapshot(index: .empty(profile: profile), gates: BrandingGates()))
        publisher = BrandingPublisher(current: current, cache: store, logger: logger, share: share)
        let services = self.logos(for: logos)
        held.services.withLock { $0 = services }
    }

    /// Nil where logos are neither fetched nor served.
    package var logos: LogoServices? { held.services.withLock { $0 } }

    /// The present services of logos, or new ones.
    func logos(for configuration: HeraldConfiguration.Logos?) -> LogoServices? {
        configuration.map {
            logos ?? LogoServices($0, store, in: folder, current, regions, partOf: total?.logos?.traffic, logger)
        }
    }

    /// Puts services of logos and their settings in force.
    func use(_ services: LogoServices?, _ configuration: HeraldConfiguration.Logos?) async {
        if let services, let configuration { services.use(configuration) }
        let before = held.services.withLock { held in
            defer { held = services }
            return held
        }
        // Calls must not name copies that are served no more.
        guard before != nil, services == nil else { return }
        do {
            await publisher.publish(try await rebuild.run())
        } catch {
            logger.warning("the index without copies of logos cannot be built", metadata: ["error": "\(error)"])
        }
    }

    /// Closes the files until their next use; an account with logos uses them all the time.
    func rest() {
        if logos == nil { store.rest() }
    }

    private final class HeldLogos: Sendable {
        let services = Mutex<LogoServices?>(nil)
    }

    /// True once the brands are loaded.
    package var isLoaded: Bool { state.withLock { $0.isLoaded } }

    /// Loads the stored brands and gates.
    ///
    /// - Parameter savedIndex: the saved index, already being read.
    /// - Throws: a database error where the stored records are needed and cannot be read.
    package func load(obeysVoipDialer: Bool, _ savedIndex: Task<SavedBrandIndex, any Error>? = nil) async throws {
        state.withLock { $0.isLoaded = true }
        defer { rest() }
        let stored = try await store.syncState()
        var gates = stored.gates
        gates.obeysVoipDialer = obeysVoipDialer
        await publisher.begin(try await indexFile.load(savedIndex), gates, cards: stored.cards)
    }

    /// Loads the stored brands and gates, or asks the first sync for all of them.
    package func loadOrReplace(obeysVoipDialer: Bool) async {
        do {
            try await load(obeysVoipDialer: obeysVoipDialer)
        } catch {
            logger.warning(
                "the stored brands cannot be read; the next sync replaces them", metadata: ["error": "\(error)"])
            state.withLock { $0.wantsFullSync = true }
        }
    }

    /// True once after stored brands could not be read.
    func takeFullSync() -> Bool {
        state.withLock { state in
            defer { state.wantsFullSync = false }
            return state.wantsFullSync
        }
    }
}
