// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import Host
import Primitives
import Trust

/// A list that regimes have an address for, such as that of the STI-PA.
struct ListAddress: Equatable, Sendable {
    let address: String
    let kind: ListKind
    /// Positions and names of the regimes with the address; those of `rules` are theirs.
    private(set) var regimes: [(position: Int, name: String)]
    private(set) var rules: [AddressRules]
    /// The file with the value of Authorization, that of the first regime with one; nil for none.
    private(set) var authorization: String?

    static func == (one: Self, other: Self) -> Bool {
        one.address == other.address && one.kind == other.kind && one.names == other.names
    }

    /// The names of the regimes with the address.
    var names: [String] { regimes.map(\.name) }

    /// Kind, regimes and address, for the operator.
    var title: String {
        "\(kind.name) of regime \(names.joined(separator: " and ")) at \(TerminalText.visible(address))"
    }

    /// The addresses of some regimes in their order, each once.
    static func all(of configured: [ConfiguredRegime]) -> [ListAddress] {
        var found: [ListAddress] = []
        for regime in configured.map(\.regime) where regime.verify {
            let authorities = regime.listAddress.map { [(ListKind.authorities, $0)] } ?? []
            for (kind, address) in authorities + regime.revocationAddresses.map({ (.revocations, $0) }) {
                let login = isSameHost(address, regime.listAddress) ? regime.listAuthorization : nil
                if let index = found.firstIndex(where: { $0.address == address }) {
                    found[index].regimes.append((regime.position, regime.name))
                    found[index].rules.append(regime.addresses)
                    found[index].authorization = found[index].authorization ?? login
                    continue
                }
                found.append(
                    ListAddress(
                        address: address, kind: kind, regimes: [(regime.position, regime.name)],
                        rules: [regime.addresses], authorization: login))
            }
        }
        return found
    }

    /// Whether scheme, host and port of an address are those of the list.
    func hasHost(of address: String) -> Bool { Self.isSameHost(address, self.address) }

    /// Whether scheme, host and port of both are the same: a login is sent to no other host.
    private static func isSameHost(_ one: String, _ other: String?) -> Bool {
        func origin(_ address: String) -> [String] {
            address.lowercased().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
                .map(String.init)
        }
        return other.map { origin($0) == origin(one) } ?? false
    }

    /// The value of Authorization, read at each fetch, since a login may last some hours; nil for none.
    ///
    /// - Throws: path and cause, and never a part of the file.
    func authorizationValue() throws(CertificateProblem) -> String? {
        guard let path = authorization else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .authorization("\(path) cannot be read: \(SystemError.ofReading(path))")
        }
        let value = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...8192).contains(value.utf8.count), value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .authorization(
                "\(path) has no value for Authorization: expected one line of 1 to 8192 ASCII characters")
        }
        return value
    }

    /// Whether the list with a digest is in the store, for all regimes with the address.
    func isStored(_ digest: [UInt8], in trust: StoredTrust) -> Bool {
        guard !digest.isEmpty else { return false }
        switch kind {
        case .authorities:
            return names.allSatisfy { name in
                trust.authorityLists.contains {
                    $0.regime == name && FetchedList.digest(of: $0.token) == digest
                }
            }
        case .revocations: return trust.revocationLists.contains { FetchedList.digest(of: $0.der) == digest }
        }
    }

    /// The end of the stored list with a digest; nil without one.
    func end(of digest: [UInt8], in trust: StoredTrust) -> Int64? {
        switch kind {
        case .authorities: trust.authorityLists.first { FetchedList.digest(of: $0.token) == digest }?.expires
        case .revocations:
            trust.revocationLists.first { FetchedList.digest(of: $0.der) == digest }
                .flatMap { RevocationList(der: $0.der)?.nextUpdate }
        }
    }
}
