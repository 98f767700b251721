// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Signs in a message that a call was forwarded to another place.
///
/// Diversion (RFC 5806) always is one. Every hop of many cores writes History-Info (RFC 7044). So that counts only with a
/// cause in an entry (RFC 4458, or a Reason in its URI) or a mapping to another user (`mp`).
enum ForwardingSigns {
    static func arePresent(in message: SIPMessage) -> Bool {
        if message.has(.diversion) { return true }
        guard message.has(.historyInfo) else { return false }
        return message.fields(.historyInfo).contains { isTelling(message[$0.value]) }
    }

    /// The URI of the last History-Info entry; nil without one.
    static func lastTarget(of message: SIPMessage) -> SIPURI? {
        var last: Range<Int>?
        for field in message.fields(.historyInfo) {
            for value in HeaderValues(message.bytes, field.value) { last = value }
        }
        guard let last else { return nil }
        let uri = NameAddressExtent.scan(message.bytes, last).uri
        // The escaped Reason behind the question mark is no part of the address.
        let end = message[uri].firstIndex(of: UInt8(ascii: "?")) ?? uri.upperBound
        return SIPURI(message.bytes, uri.lowerBound..<end)
    }

    private static func isTelling(_ value: ArraySlice<UInt8>) -> Bool {
        holds("cause", value, then: [UInt8(ascii: "="), UInt8(ascii: "%")])
            || holds(";mp", value, then: [UInt8(ascii: "=")])
    }

    /// True when the bytes contain `word`, in any case, followed by one of the given bytes.
    private static func holds(_ word: StaticString, _ bytes: ArraySlice<UInt8>, then next: [UInt8]) -> Bool {
        let length = word.utf8CodeUnitCount
        guard bytes.count > length else { return false }
        return (bytes.startIndex..<(bytes.endIndex - length)).contains { start in
            next.contains(bytes[start + length]) && bytes[start..<(start + length)].equalsIgnoringCase(word)
        }
    }
}

/// The Session-Expires header field (RFC 4028 §4), `x` in short.
enum SessionExpires {
    /// Seconds a session lives without refresh; 0 when missing or malformed.
    static func seconds(of message: SIPMessage) -> UInt32 {
        guard let field = message.first(.sessionExpires) else { return 0 }
        let end = message[field.value].firstIndex { !(48...57).contains($0) } ?? field.value.upperBound
        return DecimalNumber.read(message.bytes, field.value.lowerBound..<end).flatMap(UInt32.init(exactly:)) ?? 0
    }
}
