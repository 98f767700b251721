// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// A request to forward: its bytes, the next hop, the targets to try after it, and the facts of its dialog.
struct OnwardRequest: ~Copyable {
    var bytes: [UInt8] = []
    /// Nil when no target is up.
    var hop: NextHop?
    var targetState: TargetState?
    /// The targets of a CANCEL that no transaction here belongs to, if there are several.
    var group: TargetGroup?
    /// Targets to try after it.
    var targets = TargetOrder()
    /// True where they are tried only if the request cannot be delivered, because the dialog belongs to the first.
    private(set) var hasFallback = false
    let dialog: DialogFacts
    /// The facts that the request's Route returned, sealed by the gateway; nil without a cookie.
    let sealedDialog: DialogFacts?
    /// True when the Route brought the cookie of a dialog that is not the sender's.
    var hasForeignCookie = false
    /// True when the forwarded From differs from the received one.
    var changesFrom = false
    /// To as received where the forwarded one differs.
    var originalTo: [UInt8] = []
    /// True when the gateway added its address to Path.
    var carriesPath = false
    let isFromTrunk: Bool
    /// The trunk that gets it; nil for a trunk's own request.
    var trunk: TrunkPeer?

    /// Sets the targets of a dialog's request that cannot be delivered.
    mutating func useFallback(_ targets: TargetOrder) { (self.targets, hasFallback) = (targets, true) }
}
