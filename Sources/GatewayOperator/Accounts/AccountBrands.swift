// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
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
    /// Nil where logos are neither fetched nor served.
    package let logos: LogoServices?
    let store: BrandCacheStore
    let rebuild: IndexRebuild
    let logger: Logger
    private let indexFile: BrandCacheIndexFile
    private let state = Mutex((isLoaded: false, wantsFullSync: false))

    /// - Parameter share: puts an index in force in the memory of an equal one.
    package init(
        in folder: String, _ store: BrandCacheStore, profile: RenderingProfile, logos: LogoServices? = nil,
        logger: Logger, sharing share: @escaping BrandingPublisher.Share = { $1($0) }
    ) {
        self.folder = folder
        self.store = store
        self.logos = logos
        self.logger = logger
        let indexFile = BrandCacheIndexFile(
            store, folder: folder, profile: profile, logos: logos?.store, logger: logger)
        self.indexFile = indexFile
        rebuild = IndexRebuild { try await indexFile.rebuild() }
        current = CurrentBranding(BrandingSnapshot(index: .empty(profile: profile), gates: BrandingGates()))
        publisher = BrandingPublisher(current: current, cache: store, logger: logger, share: share)
    }

    /// True once the brands are loaded.
    package var isLoaded: Bool { state.withLock { $0.isLoaded } }

    /// Loads the stored brands and gates.
    ///
    /// - Parameter savedIndex: the saved index, already being read.
    /// - Throws: a database error where the stored records are needed and cannot be read.
    package func load(obeysVoipDialer: Bool, _ savedIndex: Task<SavedBrandIndex, any Error>? = nil) async throws {
        state.withLock { $0.isLoaded = true }
        defer { store.rest() }
        var gates = try await store.syncState().gates
        gates.obeysVoipDialer = obeysVoipDialer
        await publisher.begin(try await indexFile.load(savedIndex), gates)
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
