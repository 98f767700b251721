// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Logging

/// The brands of a start: the stored copy of the directory's records, or a local file.
struct LoadedBrands {
    let current: CurrentBranding
    let store: BrandCacheStore
    let indexFile: BrandCacheIndexFile

    /// Loads the index and the gates.
    ///
    /// - Parameter savedIndex: the saved index, already being read.
    /// - Throws: `BrandFileError`, or a database error where the stored records are needed and cannot be read.
    init(
        _ configuration: HeraldConfiguration, _ database: HeraldDatabase,
        _ savedIndex: Task<SavedBrandIndex, any Error>?, logos: LogoServices?, logger: Logger
    ) async throws {
        store = BrandCacheStore(database)
        let profile = configuration.renderingProfile
        indexFile = BrandCacheIndexFile(
            store, folder: configuration.state, profile: profile, logos: logos?.store, logger: logger)
        if let path = configuration.brandsFile {
            let file = BrandFile(path: path, stateFolder: configuration.state, profile: profile, logger: logger)
            current = CurrentBranding(BrandingSnapshot(index: try file.loadIndex(), gates: BrandingGates()))
        } else {
            var gates = try await store.syncState().gates
            gates.obeysVoipDialer = configuration.directory?.voipDialer == .obey
            current = CurrentBranding(BrandingSnapshot(index: try await indexFile.load(savedIndex), gates: gates))
        }
    }

    /// The brands of a customer's account, which are empty before they are loaded.
    ///
    /// - Parameter current: the brands in force that the account continues; nil for none.
    init(
        accountIn folder: String, _ configuration: HeraldConfiguration, current earlier: CurrentBranding?,
        logger: Logger
    ) {
        store = BrandCacheStore(folder: folder)
        let profile = configuration.renderingProfile
        indexFile = BrandCacheIndexFile(store, folder: folder, profile: profile, logger: logger)
        let empty = BrandingSnapshot(index: .empty(profile: profile), gates: BrandingGates())
        current = earlier ?? CurrentBranding(empty)
    }
}
