// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The positions of the parts of a name-addr or addr-spec, for edits of the display name alone.
///
/// `"Name" <sip:…>;tag=…`, `Name <sip:…>` and the bare `sip:…;tag=…` of From, To, P-Asserted-Identity and
/// Remote-Party-ID. Source: RFC 3261 §20.10, §20.20 and §25.1. It does not check whether
/// the value is well formed: libosip2 does (`NameAddress`).
public struct NameAddressExtent: Hashable, Sendable {
    /// The display name with its quotes, without the white space around it; empty at the `<` or URI when there is none.
    public var displayName: Range<Int> { name.range }
    /// True if the URI is in angle brackets.
    public let hasBrackets: Bool
    /// The URI, without brackets.
    public var uri: Range<Int> { address.range }
    /// The header parameters, behind the URI or its bracket.
    public var parameters: Range<Int> { rest.range }

    private let name: ByteRange
    private let address: ByteRange
    private let rest: ByteRange

    private init(displayName: Range<Int>, hasBrackets: Bool, uri: Range<Int>, parameters: Range<Int>) {
        name = ByteRange(displayName)
        self.hasBrackets = hasBrackets
        address = ByteRange(uri)
        rest = ByteRange(parameters)
    }

    /// Finds the parts in one value of a header field.
    public static func scan(_ bytes: [UInt8], _ value: Range<Int>) -> NameAddressExtent { scan(bytes.span, value) }

    static func scan(_ bytes: Span<UInt8>, _ value: Range<Int>) -> NameAddressExtent {
        guard let open = bracket(bytes, value) else { return bare(bytes, value) }
        let close = bytes.firstIndex(of: UInt8(ascii: ">"), in: open..<value.upperBound) ?? value.upperBound
        let name = LWS.trimmed(bytes, value.lowerBound..<open)
        return NameAddressExtent(
            displayName: name.isEmpty ? open..<open : name, hasBrackets: true, uri: (open + 1)..<close,
            parameters: min(close + 1, value.upperBound)..<value.upperBound)
    }

    /// The bracket in front of the URI; nil if it has none.
    ///
    /// A bracket inside a quoted string is text. A bracket behind the semicolon of a bare URI belongs to a parameter (RFC 3261
    /// §25.1). Some faults of phones are accepted: a quote inside a word or without its end, and a semicolon in a name without
    /// quotes. Each kind is decided once, since a sender may write ten thousand of them.
    private static func bracket(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Int? {
        var position = value.lowerBound
        var (hasScheme, quotesAreText, semicolonsAreText) = (false, false, false)
        while position < value.upperBound {
            position = bytes.position(in: position..<value.upperBound) {
                $0.marks(UInt8(ascii: "<")) | $0.marks(UInt8(ascii: "\"")) | $0.marks(UInt8(ascii: ";"))
                    | $0.marks(UInt8(ascii: ":"))
            }
            guard position < value.upperBound else { return nil }
            switch bytes[position] {
            case UInt8(ascii: "<"): return position
            case UInt8(ascii: ":"): hasScheme = true
            case UInt8(ascii: ";") where hasScheme && !semicolonsAreText:
                if isOneToken(bytes, value.lowerBound..<position) { return nil }
                semicolonsAreText = true
            case UInt8(ascii: "\"") where !quotesAreText && opensString(bytes, position, in: value):
                let end = QuotedString.end(bytes, openingAt: position, limit: value.upperBound)
                let isClosed = end < value.upperBound || end > position + 1 && bytes[end - 1] == UInt8(ascii: "\"")
                if isClosed || position == value.lowerBound {
                    position = end
                    continue
                }
                quotesAreText = true
            default: break
            }
            position += 1
        }
        return nil
    }

    /// White space separates the words of a name, and a parameter's string behind its `=` (RFC 3261 §25.1).
    private static func opensString(_ bytes: Span<UInt8>, _ position: Int, in value: Range<Int>) -> Bool {
        guard position > value.lowerBound else { return true }
        let before = bytes[position - 1]
        return before == UInt8(ascii: "=") || LWS.contains(before)
    }

    /// True for what has no white space inside and is no string: a URI, where it has a scheme.
    private static func isOneToken(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let word = LWS.trimmed(bytes, range)
        guard !word.isEmpty, bytes[word.lowerBound] != UInt8(ascii: "\"") else { return false }
        return !word.contains { LWS.contains(bytes[$0]) }
    }

    /// RFC 3261 §20: without brackets, everything from the first semicolon on belongs to the header, not to the URI.
    private static func bare(_ bytes: Span<UInt8>, _ value: Range<Int>) -> NameAddressExtent {
        let end = bytes.firstIndex(of: UInt8(ascii: ";"), in: value) ?? value.upperBound
        let uri = LWS.trimmed(bytes, value.lowerBound..<end)
        return NameAddressExtent(
            displayName: uri.lowerBound..<uri.lowerBound, hasBrackets: false, uri: uri,
            parameters: end..<value.upperBound)
    }
}
