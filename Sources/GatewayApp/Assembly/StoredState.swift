// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import GatewaySync
import Logging

/// Databases, brands and the ring of call updates, as an earlier run left them.
///
/// Second phase of a start. Damage ends no start: brand records are set aside, the ledger is set aside or waited for, and
/// the ring moves to memory. `StateTroubles` reports each.
struct StoredState {
    let database: HeraldDatabase
    /// The brands of the directory accounts.
    let accounts: StoredAccounts
    let ring: UpdateRing
    /// The signers of calls, by which the recorder names them; none before `TrustServices` reads them.
    let signers = CurrentTrust()
    let recorder: OutcomeRecorder

    /// Loads everything.
    ///
    /// - Throws: an error of the local brand file, of a ring in use by another process, or of the trunk names.
    init(_ start: GatewayStart, _ resources: GatewayResources) async throws {
        let usual: AccountBrands
        (database, usual) = try await BrandLoading(start, resources).run()
        accounts = try await StoredAccounts(usual, start.configuration)
        ring = try Self.ring(start.configuration, resources.troubles)
        recorder = OutcomeRecorder(
            database: database, ring: ring, settings: try start.configuration.recorderSettings(), signers: signers,
            log: Logger(label: "herald.outcome"))
    }

    /// Opens the ring in its file; falls back to memory where the file cannot be used.
    private static func ring(_ configuration: HeraldConfiguration, _ troubles: StateTroubles) throws -> UpdateRing {
        let capacity = configuration.outcomes.ringSlots
        do throws(UpdateRingError) {
            return try UpdateRing(path: configuration.runtime + "/signals.ring", capacity: capacity)
        } catch {
            guard error.problem != .inUse else { throw error }
            let ring = try UpdateRing(inMemory: capacity)
            troubles.add(
                "\(error); the ring is kept in memory, and a kill of herald loses the updates of its last second")
            return ring
        }
    }
}

/// Opens the database and loads the brands, a second time without the stored records where those are damaged.
private struct BrandLoading {
    let start: GatewayStart
    let resources: GatewayResources

    private var configuration: HeraldConfiguration { start.configuration }

    init(_ start: GatewayStart, _ resources: GatewayResources) {
        self.start = start
        self.resources = resources
    }

    /// Returns the database with the brands of calls without a customer; the directory still has records that cannot be
    /// read here.
    func run() async throws -> (HeraldDatabase, AccountBrands) {
        let database = HeraldDatabase(
            ofGateway: configuration.state, spare: configuration.runtime,
            sharesLedger: configuration.cluster?.ledger != nil)
        do {
            return try await load(database)
        } catch {
            guard let damage = database.damage(shownBy: error) else { throw error }
            return try await load(database.withoutBrands(because: damage, spare: configuration.runtime))
        }
    }

    private func load(_ database: HeraldDatabase) async throws -> (HeraldDatabase, AccountBrands) {
        for notice in database.notices { resources.troubles.add(notice) }
        let brands = AccountBrands(
            in: configuration.state, BrandCacheStore(database), configuration, logos: configuration.logos,
            logger: start.logger)
        if let path = configuration.brandsFile {
            let file = BrandFile(
                path: path, stateFolder: configuration.state, profile: configuration.renderingProfile,
                logger: start.logger)
            await brands.publisher.begin(try file.loadIndex(), BrandingGates())
        } else {
            try await brands.load(
                obeysVoipDialer: configuration.directory?.voipDialer == .obey, resources.savedIndex)
        }
        return (database, brands)
    }
}
