// SPDX-License-Identifier: Apache-2.0

import Branding

/// An INVITE as it is sent, and the part of the brand in it.
struct DecoratedInvite {
    /// Facts that the dialog carries in its route cookie.
    var dialog: DialogFacts
    /// The brand shown; nil for none.
    var entry: BrandEntry?
    /// Why none is shown; nil when one is.
    var reason: PassThroughReason?
    var decorate = BrandingLevel.nothing
    var bytes: [UInt8] = []
    /// True when From differs from the carrier's.
    var changesFrom = false
}
