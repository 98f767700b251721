// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// How much of a brand an INVITE carries; less when the target's datagrams are small (DESIGN §3: logo, reason, name).
enum BrandDress: UInt8, CaseIterable {
    case logoReasonAndName
    case reasonAndName
    case name
    case nothing
}

/// Writes a brand into a message: names and one Call-Info, as splices over the received bytes (DESIGN §5).
///
/// The URI, the tags and everything else stay as they came. Rendered bytes are copied from the index.
enum Decoration {
    /// Puts the brand's name into From, P-Asserted-Identity and Remote-Party-ID.
    static func writeNames(
        of entry: BrandEntry, in index: BrandIndex, into message: SIPMessage, from trunk: TrunkPeer,
        splices: inout Splices
    ) {
        for field in message.headers where field.name == .from {
            writeName(of: entry, in: index, message, extent(of: field, in: message), &splices)
        }
        writeAssertedNames(of: entry, in: index, into: message, from: trunk, splices: &splices)
    }

    /// Writes the name where a trusted trunk asserts one, and leaves From alone.
    static func writeAssertedNames(
        of entry: BrandEntry, in index: BrandIndex, into message: SIPMessage, from trunk: TrunkPeer,
        splices: inout Splices
    ) {
        for field in message.headers {
            switch field.name {
            case .pAssertedIdentity where trunk.isTrusted, .remotePartyID where trunk.isTrusted:
                for value in HeaderValues(message.bytes, field.value) {
                    writeName(of: entry, in: index, message, NameAddressExtent.scan(message.bytes, value), &splices)
                }
            default: break
            }
        }
    }

    /// Whether the names a trunk sent in an initial INVITE make way for the brand's.
    static func namesGiveWay(in message: SIPMessage, from trunk: TrunkPeer) -> Bool {
        switch trunk.carrierName {
        case .replace: true
        case .keep: false
        case .fill: !hasName(message)
        }
    }

    /// True when any header that may show the caller's name has one.
    private static func hasName(_ message: SIPMessage) -> Bool {
        message.headers.contains { field in
            switch field.name {
            case .from: !name(in: message, field.value).isEmpty
            case .pAssertedIdentity, .remotePartyID:
                HeaderValues(message.bytes, field.value).contains { !name(in: message, $0).isEmpty }
            default: false
            }
        }
    }

    /// The display name as it was sent, without quotes; empty when there is none.
    private static func name(in message: SIPMessage, _ value: Range<Int>) -> ArraySlice<UInt8> {
        let name = message[NameAddressExtent.scan(message.bytes, value).displayName]
        guard name.count >= 2, name.first == UInt8(ascii: "\""), name.last == UInt8(ascii: "\"") else { return name }
        return name.dropFirst().dropLast()
    }

    /// The name of From that the brand's takes the place of; empty where none does.
    static func replacedName(of message: SIPMessage, from trunk: TrunkPeer) -> ArraySlice<UInt8> {
        guard trunk.carrierName == .replace, let from = message.first(.from) else { return [] }
        return name(in: message, from.value)
    }

    /// Adds the one Call-Info of the gateway in front of the From field.
    static func writeCallInfo(
        of entry: BrandEntry, in index: BrandIndex, dress: BrandDress, into message: SIPMessage, splices: inout Splices
    ) {
        guard let part = part(of: dress), index.length(of: part, entry) > 0, let from = message.first(.from) else {
            return
        }
        splices.insert(at: from.start) { out in
            out.append("Call-Info: ")
            index.append(part, of: entry, to: &out)
            out.append("\r\n")
        }
    }

    /// What its Call-Info consists of; nil for none.
    static func part(of dress: BrandDress) -> BrandPart? {
        switch dress {
        case .logoReasonAndName: .callInfo
        case .reasonAndName: .callInfoReasonOnly
        case .name, .nothing: nil
        }
    }

    /// The parts of a From field, which are known already unless it is a second one.
    private static func extent(of from: SIPMessage.HeaderField, in message: SIPMessage) -> NameAddressExtent {
        if let first = message.first(.from), first.start == from.start, let extent = message.from { return extent }
        return NameAddressExtent.scan(message.bytes, from.value)
    }

    private static func writeName(
        of entry: BrandEntry, in index: BrandIndex, _ message: SIPMessage, _ extent: NameAddressExtent,
        _ splices: inout Splices
    ) {
        guard extent.hasBrackets else {
            // RFC 3261 §20: a display name needs the angle brackets.
            splices.insert(at: extent.uri.lowerBound) { out in
                index.append(.quotedName, of: entry, to: &out)
                out.append(" <")
            }
            splices.insert(at: extent.uri.upperBound) { $0.append(">") }
            return
        }
        splices.replace(extent.displayName) { out in
            index.append(.quotedName, of: entry, to: &out)
            // Between the old name and `<` white space may be missing, and a name that is new has none.
            if message.bytes[extent.displayName.upperBound] == UInt8(ascii: "<") { out.append(" ") }
        }
    }
}
