// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

/// An INVITE from a trunk with all that the walk has found out: trunk, identity, branding decision.
struct InboundContext: ~Copyable {
    let arrival: Arrival
    let marks: HopMarks
    let trunk: TrunkPeer
    /// The called number, its route and the PBX of the call.
    let called: CalledRoute
    let call: CallIdentifier
    let identity: CallerIdentity
    /// The verdict on the signed header fields; nil without such fields, and where nothing is verified.
    let signed: SignedVerdict?
    /// False for an emergency call, a call that has passed here before, and a request that continues a call: they get no mark of
    /// a verification, whether brands are on or off.
    let takesMark: Bool
    let decision: BrandingDecision
    /// The decision by the directory alone, which the names may have changed.
    let found: BrandingDecision
    /// The name, logo and reason to write; nil if they are those of the index.
    let card: CallerCard?
    /// The records and gates that the decision was taken from.
    let snapshot: BrandingSnapshot

    var invite: SIPMessage { arrival.message }
    /// Whether the brand that was found is recorded and not written.
    var isInShadow: Bool { called.brands(on: trunk) == .shadow }
    var index: BrandIndex { snapshot.index }
    /// Largest message that every target of the PBX takes, in bytes.
    var largest: Int { called.pbx.largestDatagram ?? .max }
}
