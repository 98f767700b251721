// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Crypto
import Foundation
import GatewayStore
import GatewaySync
import Host
import Trust

/// The files that the regimes name: anchors, lists of authorities, revocation lists and their signers.
///
/// A missing file is a remark and no error, since `herald trust import` takes lists from any place.
struct RegimeSources {
    /// The files of one regime.
    struct Files {
        var regime: TrustRegime
        var anchors: [[UInt8]] = []
        var roots: [[UInt8]] = []
        var revocationSigners: [[UInt8]] = []
        var lists: [(token: String, place: String)] = []
        var revocations: [(der: [UInt8], place: String)] = []
    }

    /// A file, or a part of one, that cannot be used.
    struct Obstacle: CustomStringConvertible {
        let regime: String
        /// The key of the regime with the file.
        let key: String
        /// Place and cause.
        let text: String
        /// Whether the whole file cannot be read.
        let isUnreadable: Bool

        var description: String { "regime \(regime): \(key): \(text)" }
    }

    /// In the order of the regimes.
    private(set) var regimes: [Files] = []
    /// Files that are missing or cannot be used.
    private(set) var obstacles: [Obstacle] = []

    /// The same for the operator, one a line.
    var remarks: [String] { obstacles.map(\.description) }

    init(_ configured: [ConfiguredRegime]) {
        for regime in configured.map(\.regime) {
            var files = Files(regime: regime)
            let anchors = material(regime.anchors, "anchors", of: regime)
            files.anchors = anchors.authorities + anchors.chains.flatMap(\.certificates)
            files.lists = anchors.lists
            let roots = material(regime.listRoot.map { [$0] } ?? [], "list_root", of: regime)
            files.roots = roots.authorities + roots.chains.flatMap(\.certificates)
            files.revocations = material(regime.revocationLists, "crl", of: regime).revocations
            let signers = material(regime.revocationSigner.map { [$0] } ?? [], "crl_signer", of: regime)
            files.revocationSigners = signers.chains.flatMap(\.certificates) + signers.authorities
            regimes.append(files)
        }
    }

    /// Adds a list that a host has sent, as if it were a file of the regimes with its address.
    mutating func add(_ list: FetchedList, from address: ListAddress) {
        for regime in address.regimes {
            switch list.kind {
            case .authorities: regimes[regime.position].lists.append((list.token, address.address))
            case .revocations: regimes[regime.position].revocations.append((list.der, address.address))
            }
        }
    }

    private mutating func material(_ paths: [String], _ key: String, of regime: TrustRegime) -> TrustMaterial {
        var material = TrustMaterial()
        for path in paths {
            do throws(CommandFailure) {
                material.add(try TrustFile.read(path), of: path)
            } catch {
                obstacles.append(Obstacle(regime: regime.name, key: key, text: "\(error)", isUnreadable: true))
            }
        }
        obstacles += material.refusals.map {
            Obstacle(regime: regime.name, key: key, text: "\($0.place) \($0.reason)", isUnreadable: false)
        }
        return material
    }

    /// The anchors of each regime: those of its files, and those of its stored list of authorities.
    func anchors(_ trust: StoredTrust) -> [RegimeAnchors] {
        regimes.map { files in
            RegimeAnchors(
                files.regime, anchors: files.anchors + Self.listed(files.regime, trust),
                revocationSigners: files.revocationSigners)
        }
    }

    /// The anchors of a regime in its stored list of authorities, in DER.
    static func listed(_ regime: TrustRegime, _ trust: StoredTrust) -> [[UInt8]] {
        let list = trust.authorityLists.first { $0.regime == regime.name }
        return list.map { AuthorityListToken.stored($0.token) } ?? []
    }

    /// The names of the regimes with a digest of all rules and files, by which standings of other rules are recognised.
    var rules: DecidedRules {
        var hash = SHA256()
        for files in regimes {
            // A dictionary has another order in each process.
            var rules = files.regime
            let codes = rules.codes.map { "\($0.key.name) \($0.value)" }.sorted()
            rules.codes = [:]
            // The contents of files count, and not the form of their paths.
            (rules.anchors, rules.listRoot) = ([], nil)
            (rules.revocationLists, rules.revocationSigner) = ([], nil)
            (rules.listAddress, rules.listAuthorization, rules.revocationAddresses) = (nil, nil, [])
            hash.update(data: Array("\(rules) \(codes)".utf8))
            for part in files.anchors + files.revocationSigners { hash.update(data: part) }
        }
        return DecidedRules(digest: Array(hash.finalize()), names: regimes.map(\.regime.name))
    }

    /// The stored form of `rules`.
    var fingerprint: [UInt8] { rules.bytes }
}

/// A file of the operator with certificates or lists.
enum TrustFile {
    /// The largest file that is read, in bytes.
    private static let most = 64 << 20

    /// The contents.
    ///
    /// - Throws: path and cause of an unreadable or oversized file.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else { throw unreadable(path) }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        do {
            // A pipe or a device has no size, so the bytes are counted.
            while bytes.count <= most, let part = try file.read(upToCount: 1 << 20), !part.isEmpty { bytes += part }
        } catch {
            throw unreadable(path)
        }
        guard bytes.count <= most else { throw CommandFailure("\(path) has more than \(most >> 20) MB") }
        return bytes
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        CommandFailure("\(path) cannot be read: \(SystemError.ofReading(path))")
    }
}

extension HeraldConfiguration.TrustSettings {
    /// The names of the regimes in their order.
    package var names: [String] { regimes.map(\.regime.name) }
}

extension HeraldConfiguration {
    /// The section `trust`.
    ///
    /// - Throws: the remedy for a configuration without it.
    func trustSettings() throws(CommandFailure) -> TrustSettings {
        guard let trust else {
            throw CommandFailure("the configuration names no regime: write trust: {regimes: [us]}; see docs/trust.md")
        }
        return trust
    }
}
