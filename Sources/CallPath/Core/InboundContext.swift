// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

/// Everything known of an INVITE from a trunk once the branding decision is taken.
struct InboundContext {
    let arrival: Arrival
    let marks: HopMarks
    let trunk: TrunkPeer
    let call: CallIdentifier
    let identity: CallerIdentity
    let decision: BrandingDecision
    /// The records and gates that the decision was taken from.
    let snapshot: BrandingSnapshot

    var invite: SIPMessage { arrival.message }
    var index: BrandIndex { snapshot.index }
}
