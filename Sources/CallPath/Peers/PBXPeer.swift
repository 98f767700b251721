// SPDX-License-Identifier: Apache-2.0

public import Branding
public import SIPCore

/// A PBX, which gets the branded calls.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
public final class PBXPeer: Sendable {
    public let name: String
    /// Its number among PBXs, derived from its name.
    let mark: UInt16
    /// The same in 64 bits: a thousand PBXs have a thousand keys.
    public let key: UInt64
    public let sources: [PeerSource]
    /// The targets of its calls.
    public let targets: TargetGroup
    /// Largest message every target takes, in bytes; decoration is trimmed to stay under it.
    ///
    /// Nil for no limit. The smallest of all targets, so that a call can go on to another one as it is.
    let largestDatagram: Int?
    /// Key of the logo's form in Call-Info; nil for the usual one.
    public let logoKey: [UInt8]?
    /// Whether its calls have header fields with the verdict on their signatures.
    public let takesVerdict: Bool

    public init(
        name: String, sources: [PeerSource], targets: TargetGroup, logo: LogoForm? = nil, takesVerdict: Bool = false
    ) {
        self.takesVerdict = takesVerdict
        self.name = name
        mark = TrunkPeer.mark(of: name)
        key = stableHash(name)
        self.sources = sources
        self.targets = targets
        largestDatagram = targets.targets.compactMap(\.largestDatagram).min()
        logoKey = logo.map { Array($0.key.utf8) }
    }
}
