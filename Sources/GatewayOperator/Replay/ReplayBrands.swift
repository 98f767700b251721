// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import Host
import Logging

/// The brands that calls are decided with again: those of the gateway's accounts, or of a file.
struct ReplayBrands: Sendable {
    /// The brands of calls without a customer.
    private let usual: BrandIndex
    private let ofCustomers: [String: BrandIndex]

    /// Reads all brands: some seconds and 40 MB for a million numbers.
    ///
    /// - Parameters:
    ///   - configuration: with the state folder of the gateway.
    ///   - names: the customers with routes.
    ///   - file: replaces the brands of calls without a customer, or of `owner`.
    ///   - owner: a customer, if the calls of that one are replayed alone.
    /// - Throws: `CommandFailure` for brands that cannot be read.
    init(_ configuration: HeraldConfiguration, customers names: [String], file: String?, owner: String?) throws {
        let given = try file.map { try Self.index(ofFile: $0, configuration) }
        usual =
            if let given, owner == nil { given } else { try Self.index(of: configuration) }
        var ofCustomers: [String: BrandIndex] = [:]
        for name in names {
            let customer = configuration.customers.first { $0.name == name }
            ofCustomers[name] =
                if name == owner, let given { given } else { try Self.index(of: configuration.seen(by: customer)) }
        }
        self.ofCustomers = ofCustomers
    }

    /// The brands of a customer's calls; nil for calls without a customer.
    func index(of customer: String?) -> BrandIndex { customer.flatMap { ofCustomers[$0] } ?? usual }

    private static func index(of configuration: HeraldConfiguration) throws -> BrandIndex {
        if let path = configuration.brandsFile { return try index(ofFile: path, configuration) }
        return try CommandFailure.reported {
            var profile = configuration.renderingProfile
            guard let reader = try reader(of: configuration.state) else { return .empty(profile: profile) }
            if let logos = configuration.logos {
                profile.logos = try LogoReader(folder: configuration.state).hosted(logos.storeSettings)
            }
            return try reader.index(profile: profile)
        }
    }

    /// Nil before the first sync: calls have had no brand.
    private static func reader(of folder: String) throws(HeraldDatabaseError) -> BrandCacheReader? {
        do {
            return try BrandCacheReader(folder: folder)
        } catch {
            guard error.problem == .missing else { throw error }
            return nil
        }
    }

    /// The index of a file of brands, which leaves nothing in the state folder.
    private static func index(ofFile path: String, _ configuration: HeraldConfiguration) throws -> BrandIndex {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("herald-replay-\(UUID().uuidString)")
        return try CommandFailure.reported {
            // The error of a missing file names the system's reason.
            try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).close()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let silent = Logger(label: "herald.replay") { _ in SwiftLogNoOpLogHandler() }
            return try BrandFile(
                path: path, stateFolder: folder.path, profile: configuration.renderingProfile, logger: silent
            ).loadIndex()
        }
    }
}
