// SPDX-License-Identifier: Apache-2.0

/// The host and port of a sip URI, as far as the grammar goes (RFC 3261 §25.1, RFC 5118 §4.1 and §4.2).
enum HostPort {
    /// Whether what follows the scheme of a Request-URI has a host, at most a port, and no headers (RFC 3261 §19.1.1,
    /// Table 1).
    ///
    /// An IPv6 address needs brackets, or its end could be read as a port. An underscore passes: networks have such
    /// names.
    static func isWhole(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        // An at sign only separates user and host; a question mark in the user part begins no headers.
        let text = bytes.span
        var start = range.lowerBound
        while let at = text.firstIndex(of: UInt8(ascii: "@"), in: start..<range.upperBound) { start = at + 1 }
        let end = text.position(in: start..<range.upperBound) { $0.marks(UInt8(ascii: ";")) }
        guard text.firstIndex(of: UInt8(ascii: "?"), in: start..<range.upperBound) == nil,
            let port = hostEnd(text, start..<end)
        else { return false }
        guard port < end else { return true }
        guard bytes[port] == UInt8(ascii: ":"), port + 1 < end else { return false }
        return text.position(in: (port + 1)..<end) { !$0.digitMarks } == end
    }

    /// Where a host name or address ends; nil for none.
    private static func hostEnd(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        if text[range.lowerBound] == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]"), in: range),
                PeerAddress(host: text.extracting(range.lowerBound..<(close + 1)), port: 0)?.isIPv6 == true
            else { return nil }
            return close + 1
        }
        let end = text.position(in: range) {
            !($0.digitMarks | $0.letterMarks | $0.marks(2, from: UInt8(ascii: "-")) | $0.marks(UInt8(ascii: "_")))
        }
        return end > range.lowerBound ? end : nil
    }
}
