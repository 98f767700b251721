// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The sources of the peers read so far, by network: a further source is compared with those that can cover it.
struct SourceClaims {
    /// A source and its peer.
    struct Claim {
        let owner: String
        let range: SourceRange
        /// Position in `listen`; nil for a PBX, which may use any listener.
        var listener: Int?
        var certificateNames: Set<String> = []
    }

    private struct Network: Hashable {
        let length: Int
        let bytes: [UInt8]
        let port: UInt16?
        let listener: Int?
    }

    /// The claims on one network, each with its place in the order of the file.
    private struct Claims {
        var withoutNames: (place: Int, claim: Claim)?
        var byName: [String: [(place: Int, claim: Claim)]] = [:]
    }

    private var networks: [Network: Claims] = [:]
    /// Lengths of the prefixes that occur, of IPv4 and of IPv6.
    private var lengths: [Bool: Set<Int>] = [:]
    private var count = 0

    /// Adds a source.
    mutating func add(_ claim: Claim) {
        guard let bytes = AddressBytes(claim.range.host) else { return }
        let network = Network(
            length: claim.range.prefixLength, bytes: bytes.prefix(claim.range.prefixLength), port: claim.range.port,
            listener: claim.listener)
        lengths[claim.range.isIPv6, default: []].insert(claim.range.prefixLength)
        if claim.certificateNames.isEmpty, networks[network]?.withoutNames == nil {
            networks[network, default: Claims()].withoutNames = (count, claim)
        }
        for name in claim.certificateNames {
            networks[network, default: Claims()].byName[name, default: []].append((count, claim))
        }
        count += 1
    }

    /// The first claim whose messages include all those of another one.
    ///
    /// Claims may share a network if their listeners or certificates differ.
    func first(covering other: Claim) -> Claim? {
        guard let bytes = AddressBytes(other.range.host) else { return nil }
        var found: [(place: Int, claim: Claim)] = []
        for length in lengths[other.range.isIPv6] ?? [] where length <= other.range.prefixLength {
            let prefix = bytes.prefix(length)
            for port in Set([nil, other.range.port]) {
                for listener in Set([nil, other.listener]) {
                    let network = Network(length: length, bytes: prefix, port: port, listener: listener)
                    guard let claims = networks[network] else { continue }
                    if let claim = claims.withoutNames { found.append(claim) }
                    guard let name = other.certificateNames.first else { continue }
                    let named = claims.byName[name] ?? []
                    if let claim = named.first(where: {
                        $0.claim.certificateNames.isSuperset(of: other.certificateNames)
                    }) {
                        found.append(claim)
                    }
                }
            }
        }
        return found.min { $0.place < $1.place }?.claim
    }
}

/// The names of entries with their positions.
struct NamePositions {
    let names: [String]
    private let positions: [String: Int]

    init(_ names: [String]) {
        self.names = names
        positions = Dictionary(zip(names, names.indices)) { first, _ in first }
    }

    /// The position of the first entry with a name.
    subscript(name: String) -> Int? { positions[name] }
}
