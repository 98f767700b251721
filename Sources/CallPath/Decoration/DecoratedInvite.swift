// SPDX-License-Identifier: Apache-2.0

import Branding

/// An INVITE as it is sent, and the part of the brand in it, or of a call in shadow the part that would be in it.
struct DecoratedInvite {
    /// Facts that the dialog carries in its route cookie.
    var dialog: DialogFacts
    /// The directory's brand shown; nil for none.
    var entry: BrandEntry?
    /// The card that is written instead of what the index has; nil for none.
    var card: CallerCard?
    /// Why no brand of the directory is shown; nil when one is.
    var reason: PassThroughReason?
    /// Whether a call with brands would have had the brand's name, of a call in shadow.
    var wouldBeNamed = false
    var decorate = BrandingLevel.nothing
    /// Whether Call-Info has the address of the brand's public card, or would have.
    var hasCardLink = false
    var bytes: [UInt8] = []
    /// True when From differs from the carrier's.
    var changesFrom = false

    /// Whether the name is that of brand or card, or would be.
    var isNamed: Bool { dialog.isNamed || wouldBeNamed }

    /// Whether names and Call-Info are written, or would be.
    var isDecorated: Bool { entry != nil || card != nil }

    /// Appends the name as a phone shows it; nothing for a call without one.
    func appendName(in index: BrandIndex, to out: inout [UInt8]) {
        if let card { return out.append(contentsOf: card.name.utf8) }
        if let entry { index.append(.name, of: entry, to: &out) }
    }
}
