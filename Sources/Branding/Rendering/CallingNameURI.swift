// SPDX-License-Identifier: Apache-2.0

/// The forms of the URI that carries a calling name, each with a mark for what changes.
///
/// The draft of the scheme `pstndata:` has expired, and clients read different texts. So both forms are settings.
/// Source: Oracle's manual for the scheme and for `p` and `u` of `unavailable`, after draft-ietf-enum-cnam-08.
public struct CallingNameURI: Hashable, Sendable {
    /// The most bytes of a form, so that every response fits 512 bytes.
    public static let longest = 100
    /// The place of the name in the form of a name.
    public static let nameMark = "{name}"
    /// The place of `p` or `u` in the form of a missing name.
    public static let reasonMark = "{reason}"

    private let named: [[UInt8]]
    private let unavailable: [[UInt8]]

    /// The usual form of a name.
    public static let usualName = "pstndata:cnam/\(nameMark)"
    /// The usual form of a missing name.
    public static let usualUnavailable = "pstndata:cnam/;unavailable=\(reasonMark)"

    /// - Parameters:
    ///   - name: a form with `nameMark`, for which `isForm` is true.
    ///   - unavailable: a form with `reasonMark`, for which `isForm` is true.
    public init(name: String = usualName, unavailable: String = usualUnavailable) {
        named = Self.parts(of: name, Self.nameMark)
        self.unavailable = Self.parts(of: unavailable, Self.reasonMark)
    }

    /// Whether a text is a URI with the mark once.
    ///
    /// Not allowed are `!` and `\`, which have a meaning of their own in a NAPTR record, quotes and blanks.
    public static func isForm(_ text: String, with mark: String) -> Bool {
        let parts = parts(of: text, mark)
        guard parts.count == 2, text.utf8.count <= longest, let colon = parts[0].firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let isScheme = colon > 0 && parts[0][..<colon].allSatisfy { Self.isUnreserved($0) }
        return isScheme && (parts[0] + parts[1]).allSatisfy { (0x21...0x7E).contains($0) && !forbidden.contains($0) }
    }

    private static let forbidden = Set("!\\\"{}<>".utf8)

    private static func parts(of text: String, _ mark: String) -> [[UInt8]] {
        let text = Array(text.utf8)
        let mark = Array(mark.utf8)
        guard let place = text.indices.first(where: { text[$0...].starts(with: mark) }) else { return [text] }
        return [Array(text[..<place]), Array(text[(place + mark.count)...])]
    }

    /// The URI of a record.
    public func bytes(_ record: CallingNameRecord) -> [UInt8] {
        switch record {
        case .name(let name): Self.filled(named, with: Self.escaped(name.text))
        case .unavailable(let reason): Self.filled(unavailable, with: Array(reason.rawValue.utf8))
        }
    }

    private static func filled(_ parts: [[UInt8]], with value: [UInt8]) -> [UInt8] {
        parts.count == 2 ? parts[0] + value + parts[1] : parts[0]
    }

    /// Escapes everything but unreserved characters (RFC 3986 §2.3).
    private static func escaped(_ text: String) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            isUnreserved(byte) ? [byte] : [0x25, digit(byte >> 4), digit(byte & 0xF)]
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}

/// The calling name of a number, as the zone has it.
public enum CallingNameRecord: Hashable, Sendable {
    case name(CallingName)
    case unavailable(Unavailable)

    /// Why a number has no calling name.
    public enum Unavailable: String, Hashable, Sendable, CaseIterable {
        /// The caller has withheld it.
        case withheld = "p"
        /// No name is known.
        case unknown = "u"
    }
}
