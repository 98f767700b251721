// SPDX-License-Identifier: Apache-2.0

import Branding
import Primitives
import SIPCore

/// The part of a brand that an INVITE carries.
///
/// For a target with small datagrams the address of the public card is left out first, then the logo, the reason, verstat and
/// the name.
enum BrandingLevel: UInt8, CaseIterable {
    case logoReasonAndName
    case reasonAndName
    case name
    case nothing
}

/// The brand that a message shows: what the index has, or the card of one call.
struct ShownBrand {
    let entry: BrandEntry?
    let index: BrandIndex
    /// Nil for what the index has.
    var card: CallerCard?

    /// Whether there is a name.
    var hasName: Bool { card?.hasName ?? true }

    func appendName(to out: inout [UInt8]) {
        if let card { return card.appendName(to: &out) }
        if let entry { index.append(.quotedName, of: entry, to: &out) }
    }
}

/// The fields with the caller's name that have the name of a brand.
enum WrittenNames {
    case none
    /// A field stayed as received, because the place of its name is uncertain.
    case some
    case all

    init(isWritten: Bool, isSkipped: Bool) { self = !isWritten ? .none : isSkipped ? .some : .all }
}

/// Writes a brand into a message: names, one Call-Info, and by option another with the card.
///
/// Edits are splices over the received bytes. URIs, tags and everything else stay as received. Rendered bytes are copied from
/// the index.
enum Decoration {
    /// Puts the brand's name into From, P-Asserted-Identity and Remote-Party-ID.
    static func writeNames(
        of brand: ShownBrand, into message: SIPMessage, from trunk: TrunkPeer, splices: inout Splices
    ) -> WrittenNames {
        var (isWritten, isSkipped) = (false, false)
        for field in message.fields(.from) {
            let extent = extent(of: field, in: message)
            guard isAddress(message, field.value, extent) else {
                isSkipped = true
                continue
            }
            writeName(of: brand, message, extent, &splices)
            isWritten = true
        }
        guard trunk.isTrusted else { return WrittenNames(isWritten: isWritten, isSkipped: isSkipped) }
        let asserted = writeAssertedNames(of: brand, into: message, from: trunk, splices: &splices)
        return WrittenNames(
            isWritten: isWritten || asserted.isWritten, isSkipped: isSkipped || asserted.isSkipped)
    }

    /// Writes the name into the fields of a trusted trunk that assert one, and leaves From alone.
    ///
    /// A field with a value that the grammar rejects stays as received, since the place of its names is not certain. So do
    /// values of Remote-Party-ID for other parties.
    @discardableResult
    static func writeAssertedNames(
        of brand: ShownBrand, into message: SIPMessage, from trunk: TrunkPeer, splices: inout Splices
    ) -> (isWritten: Bool, isSkipped: Bool) {
        guard trunk.isTrusted else { return (false, false) }
        var (isWritten, isSkipped) = (false, false)
        func write(_ field: SIPMessage.HeaderField) {
            guard isAddressList(message, field.value) else {
                isSkipped = true
                return
            }
            for value in HeaderValues(message.bytes, field.value) {
                let extent = NameAddressExtent.scan(message.bytes, value)
                if field.name == .remotePartyID, !RemoteParty.isSender(of: message, extent.parameters) { continue }
                writeName(of: brand, message, extent, &splices)
                isWritten = true
            }
        }
        for field in message.fields(.pAssertedIdentity) { write(field) }
        for field in message.fields(.remotePartyID) { write(field) }
        return (isWritten, isSkipped)
    }

    /// Whether the brand's name replaces the names of a trunk's initial INVITE.
    static func replacesCallerName(in message: SIPMessage, of caller: E164Number?, from trunk: TrunkPeer) -> Bool {
        switch trunk.carrierName {
        case .replace: true
        case .keep: false
        case .fill: !CarrierNameText.isPresent(in: message, of: caller, from: trunk)
        }
    }

    /// Whether the grammar accepts a value.
    private static func isAddress(_ message: SIPMessage, _ value: Range<Int>, _ extent: NameAddressExtent) -> Bool {
        NameAddress(message.bytes, value, extent) != nil
    }

    private static func isAddressList(_ message: SIPMessage, _ list: Range<Int>) -> Bool {
        HeaderValues(message.bytes, list).allSatisfy { value in
            let extent = NameAddressExtent.scan(message.bytes, value)
            return isAddress(message, value, extent) && !hasStrayQuote(message, extent.displayName)
        }
    }

    /// Whether a name has a quote that opens no string of its own.
    ///
    /// Then the begin of the list's next value is uncertain.
    private static func hasStrayQuote(_ message: SIPMessage, _ name: Range<Int>) -> Bool {
        guard let quote = message.bytes.firstIndex(of: UInt8(ascii: "\""), in: name) else { return false }
        return quote > name.lowerBound
            || QuotedString.end(message.bytes, openingAt: quote, limit: name.upperBound) < name.upperBound
            || message.bytes[name.upperBound - 1] != UInt8(ascii: "\"")
    }

    /// Adds the gateway's Call-Info in front of the From field, with the logo in the form of the PBX's phones.
    ///
    /// - Parameter isNamed: whether each field that shows the caller's name has that of the brand.
    static func writeCallInfo(
        of brand: ShownBrand, decorate: BrandingLevel, isNamed: Bool, to pbx: PBXPeer, into message: SIPMessage,
        splices: inout Splices
    ) {
        guard let part = part(of: decorate), let from = message.first(.from) else { return }
        if let card = brand.card {
            let withLogo = part == .callInfo
            guard card.hasCallInfo(withLogo: withLogo, isNamed: isNamed) else { return }
            return splices.insert(at: from.start) { out in
                out.append("Call-Info: ")
                card.appendCallInfo(withLogo: withLogo, isNamed: isNamed, to: &out)
                out.append("\r\n")
            }
        }
        guard let entry = brand.entry, brand.index.length(of: part, entry) > 0 else { return }
        splices.insert(at: from.start) { out in
            out.append("Call-Info: ")
            brand.index.append(part, of: entry, logo: pbx.logoKey, to: &out)
            out.append("\r\n")
        }
    }

    /// Adds the address of the brand's public card in front of the From field, behind the other Call-Info.
    ///
    /// A field of its own: a device that reads the first field alone has the logo (RFC 3261 §7.3.1).
    static func writeCardLink(
        of entry: BrandEntry, in index: BrandIndex, at links: CardLinks, into message: SIPMessage,
        splices: inout Splices
    ) {
        guard let from = message.first(.from) else { return }
        splices.insert(at: from.start) { out in
            out.append("Call-Info: ")
            index.appendCard(of: entry, at: links, to: &out)
            out.append("\r\n")
        }
    }

    /// The content of its Call-Info; nil for none.
    static func part(of decorate: BrandingLevel) -> BrandPart? {
        switch decorate {
        case .logoReasonAndName: .callInfo
        case .reasonAndName: .callInfoReasonOnly
        case .name, .nothing: nil
        }
    }

    /// The parts of a From field; those of the first one are indexed already.
    private static func extent(of from: SIPMessage.HeaderField, in message: SIPMessage) -> NameAddressExtent {
        if let first = message.first(.from), first.start == from.start, let extent = message.from { return extent }
        return NameAddressExtent.scan(message.bytes, from.value)
    }

    private static func writeName(
        of brand: ShownBrand, _ message: SIPMessage, _ extent: NameAddressExtent, _ splices: inout Splices
    ) {
        guard extent.hasBrackets else {
            // RFC 3261 §20: a display name needs the angle brackets.
            splices.insert(at: extent.uri.lowerBound) { out in
                brand.appendName(to: &out)
                out.append(" <")
            }
            splices.insert(at: extent.uri.upperBound) { $0.append(">") }
            return
        }
        splices.replace(extent.displayName) { out in
            brand.appendName(to: &out)
            // The old name may end directly at `<`, and a new name has no white space behind it.
            if message.bytes[extent.displayName.upperBound] == UInt8(ascii: "<") { out.append(" ") }
        }
    }
}
