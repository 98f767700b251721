// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import Logging

/// The stored brands that one lookup needs.
struct StoredBrands {
    let index: BrandIndex
    let gates: BrandingGates
    /// Source of the brands, for the report.
    let origin: String
    /// The public cards of the account's brands; nil without cards.
    private(set) var cards: CardLinks?
    /// URL of the record's logo; nil without one.
    private(set) var namedLogo: String?
    /// State of the gateway's own copy of the logo; nil where it keeps none.
    private(set) var logoCopy: LogoResponse.Copy?

    /// Reads the local file of brands, or the copy in the state folder.
    ///
    /// - Throws: an error of the file or of the database.
    init(_ configuration: HeraldConfiguration, for question: LookupResult.Question) throws {
        try self.init(configuration, of: question.read)
    }

    /// Reads the brand of one caller.
    ///
    /// - Parameter number: nil reads gates only.
    /// - Throws: an error of the file or of the database.
    init(_ configuration: HeraldConfiguration, of number: E164Number?) throws {
        if let path = configuration.brandsFile {
            try self.init(file: path, configuration, number)
        } else {
            try self.init(copyOf: configuration, number)
        }
    }

    private init(file path: String, _ configuration: HeraldConfiguration, _ number: E164Number?) throws {
        let silent = Logger(label: "herald.lookup") { _ in SwiftLogNoOpLogHandler() }
        let file = BrandFile(
            path: path, stateFolder: configuration.state, profile: configuration.renderingProfile, logger: silent)
        let index = try file.loadIndex()
        self.index = index
        gates = BrandingGates()
        origin = "the file \(path)"
        namedLogo = number.flatMap { index.entry(for: $0) }.flatMap { index.logoURL(of: $0) }
    }

    private init(copyOf configuration: HeraldConfiguration, _ number: E164Number?) throws {
        let reader = try BrandCacheReader(folder: configuration.state)
        let state = try reader.syncState()
        cards = state.cards
        var profile = configuration.renderingProfile
        if let logos = configuration.logos {
            profile.logos = try LogoReader(folder: configuration.state).hosted(logos.storeSettings)
        }
        index = try number.map { try reader.index(of: $0, profile: profile) } ?? .empty(profile: profile)
        namedLogo = try number.flatMap { try reader.logoURL(of: $0) }
        if configuration.logos != nil, let namedLogo {
            logoCopy = LogoResponse.Copy(problem: try LogoReader(folder: configuration.state).problem(of: namedLogo))
        }
        gates = Self.gates(state.gates, configuration, lastSync: state.lastSync)
        let without =
            configuration.directory == nil
            ? "none: the configuration has neither directory nor brands" : "no copy yet: no sync has succeeded"
        origin = state.lastSync.map { "the copy of \(OperatorTime.text($0))" } ?? without
    }

    private static func gates(
        _ stored: BrandingGates, _ configuration: HeraldConfiguration, lastSync: Int64?
    ) -> BrandingGates {
        var gates = stored
        gates.obeysVoipDialer = configuration.directory?.voipDialer == .obey
        if let lifetime = configuration.directory?.cacheLifetime, lifetime > .zero, let lastSync {
            gates.isStale = Int64(Date().timeIntervalSince1970) - lastSync > lifetime.components.seconds
        }
        return gates
    }
}
