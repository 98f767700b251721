// SPDX-License-Identifier: Apache-2.0

/// An earlier pass of a request through the gateway, by the topmost Via that has the gateway's form (RFC 5393 §4).
///
/// Anybody can write such a Via. The branch alone is proof: a keyed hash over the Via below it, Call-ID and CSeq, which
/// every proxy leaves as they are. A request whose Via below has no cookie of RFC 3261 §8.1.1.7 has no proof, because its
/// branch also covers fields that change on the way.
public struct EarlierPass {
    private let message: SIPMessage
    private let branch: Branch
    /// The Via of the request as it arrived then.
    private let below: ViaValue

    /// Finds the topmost Via of the gateway's form; nil without one, and for one with no Via below.
    ///
    /// A proven Via below an unproven one is no proof: the gateway's latest Via is above all earlier ones.
    public init?(of message: SIPMessage, sockets: [LocalSocket]) {
        // Most INVITEs have one Via.
        guard message.hasSecondVia else { return nil }
        var (own, below): (ViaValue?, ViaValue?)
        _ = message.anyVia { via in
            if own != nil {
                below = via
                return true
            }
            if let via, via.isOwn(in: message, sockets: sockets) { own = via }
            return false
        }
        guard let below, let branch = own?.branch.flatMap({ Branch(message[$0]) }) else { return nil }
        (self.message, self.branch, self.below) = (message, branch, below)
    }

    /// Whether the gateway made the branch for a request of this sender, by its secret or one that it replaced.
    public func isProven(sender: UInt64, secret: Secret) -> Bool {
        secret.age { Branch(of: message, via: below, sender: sender, secret: $0) == branch } != nil
    }
}
