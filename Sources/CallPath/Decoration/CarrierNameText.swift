// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore

/// The caller's name as the carrier sent it: whether it is a name, and its form in the records.
enum CarrierNameText {
    /// True when a header that may show the caller's name has a name other than the number.
    static func isPresent(in message: SIPMessage, of caller: E164Number?, from trunk: TrunkPeer) -> Bool {
        func isName(_ value: Range<Int>) -> Bool {
            let extent = NameAddressExtent.scan(message.bytes, value)
            let name = AnonymousNames.name(in: message, extent.displayName)
            return self.isName(name, of: caller, on: trunk) && !isNumber(name, beside: extent, in: message)
        }
        return message.headers.contains { field in
            switch field.name {
            case .from: isName(field.value)
            case .pAssertedIdentity: HeaderValues(message.bytes, field.value).contains(where: isName)
            case .remotePartyID:
                HeaderValues(message.bytes, field.value).contains { value in
                    isName(value)
                        && RemoteParty.isSender(
                            of: message, NameAddressExtent.scan(message.bytes, value).parameters)
                }
            default: false
            }
        }
    }

    /// Whether a display name without quotes names the caller: no word for nobody, and not the number in any written form.
    static func isName(_ name: ArraySlice<UInt8>, of caller: E164Number?, on trunk: TrunkPeer) -> Bool {
        guard !name.isEmpty, !AnonymousNames.isNoName(name) else { return false }
        guard let caller, let written = WrittenDigits(name) else { return true }
        return !written.endsLike(caller.digits) && trunk.normaliser.normalise(name) != caller
    }

    /// Whether a name is the number of the URI beside it, in any written form.
    private static func isNumber(
        _ name: ArraySlice<UInt8>, beside extent: NameAddressExtent, in message: SIPMessage
    ) -> Bool {
        guard let written = WrittenDigits(name), let dialled = DialledUser(message.bytes, extent.uri),
            let beside = WrittenDigits(message[dialled.user])
        else { return false }
        return written.endsLike(beside.value)
    }

    /// Longest name in a record, in bytes of UTF-8.
    static let longest = CallTexts.limits.carrierName

    /// The name in From that the brand's replaces; empty where none is replaced.
    ///
    /// Without folds, escapes, control characters and direction marks, and cut between two characters.
    static func replaced(in message: SIPMessage, from trunk: TrunkPeer) -> ArraySlice<UInt8> {
        guard trunk.carrierName == .replace, let extent = message.from else { return [] }
        let name = AnonymousNames.name(in: message, extent.displayName)
        if name.count <= longest, name.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }) {
            return name
        }
        var unescaped: [UInt8] = []
        var isEscaped = false
        // Far more than a record takes, and a bound for a hostile sender.
        for byte in name.prefix(longest * 8) {
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { unescaped.append(byte) }
        }
        return Array(ReadableText.clean(unescaped, maxBytes: longest).utf8)[...]
    }
}

/// A written number: its digits without leading zeros and separators.
private struct WrittenDigits {
    private(set) var value: UInt64 = 0
    private var count = 0

    /// Nil for fewer than six or more than eighteen digits, and for anything but separators between them.
    init?(_ text: ArraySlice<UInt8>) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard count < 18 else { return nil }
                value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
                if value > 0 { count += 1 }
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"),
                UInt8(ascii: " "), UInt8(ascii: "/"):
                continue
            default: return nil
            }
        }
        guard count >= 6 else { return nil }
    }

    /// Whether these are the last digits of a number, or all of them.
    func endsLike(_ number: UInt64) -> Bool {
        let power = (0..<count).reduce(UInt64(1)) { power, _ in power * 10 }
        return number % power == value
    }
}
