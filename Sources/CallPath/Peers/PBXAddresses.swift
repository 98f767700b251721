// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The PBXs by the hosts of their sources and targets, so that a thousand PBXs cost a message as much as one.
///
/// Immutable. Up to `few` PBXs are searched one after the other, which is faster than a hash.
struct PBXAddresses: Sendable {
    private let pbxs: [PBXPeer]
    /// Positions in `pbxs` by host, in the order of the configuration; empty for few PBXs.
    private let byHost: [PeerAddress: [Int]]
    /// Positions of PBXs with a range of addresses.
    private let ranged: [Int]

    private static let few = 8

    init(_ pbxs: [PBXPeer]) {
        self.pbxs = pbxs
        var byHost: [PeerAddress: [Int]] = [:]
        var ranged: [Int] = []
        for (position, pbx) in pbxs.enumerated() where pbxs.count > Self.few {
            let single = pbx.sources.filter(\.isSingle).map(\.network) + pbx.targets.targets.map(\.address)
            for host in Set(single.map { $0.with(port: 0) }) { byHost[host, default: []].append(position) }
            if !pbx.sources.allSatisfy(\.isSingle) { ranged.append(position) }
        }
        (self.byHost, self.ranged) = (byHost, ranged)
    }

    /// The first PBX that fits, of those that may have an address.
    func first(at address: PeerAddress, where fits: (PBXPeer) -> Bool) -> PBXPeer? {
        guard pbxs.count > Self.few else { return pbxs.first(where: fits) }
        var found = Int.max
        for position in byHost[address.with(port: 0)] ?? [] where position < found && fits(pbxs[position]) {
            found = position
        }
        for position in ranged where position < found && fits(pbxs[position]) { found = position }
        return found == .max ? nil : pbxs[found]
    }
}

extension PeerSource {
    /// True for one address instead of a network.
    fileprivate var isSingle: Bool { prefixLength >= (network.isIPv6 ? 128 : 32) }
}
