// SPDX-License-Identifier: Apache-2.0

/// A header field of a traced message, by its line alone.
struct TraceField {
    /// The treatment of a field by its name.
    enum Kind: UInt8 {
        /// A name that traces do not distinguish, or a line without a colon.
        case other
        /// Never shown: it proves who somebody is.
        case credentials
        /// A field of the protocol, whose digits are no telephone numbers.
        case opaque
        /// Opaque, but of a withheld caller it may have the number in it.
        case callID
        /// Opaque, and decides how the body is masked.
        case contentType
        /// Opaque but for the received From that it may carry.
        case via
        /// Names hops.
        case route
        /// Names nobody by its meaning.
        case harmless
        /// Its tag belongs to the dialog.
        case tagged
        /// A PASSporT.
        case identity
    }

    let kind: Kind
    /// The value behind the colon and its white space; of a line without a colon the line.
    let value: Range<Int>

    /// - Parameter line: the extent of the line without its end.
    init(_ bytes: Span<UInt8>, _ line: Range<Int>) {
        var name = FieldName()
        var position = line.lowerBound
        while position < line.upperBound, bytes[position] != UInt8(ascii: ":") {
            name.append(bytes[position])
            position += 1
        }
        guard position < line.upperBound else {
            (kind, value) = (.other, line)
            return
        }
        position += 1
        while position < line.upperBound, bytes[position] == 32 || bytes[position] == 9 { position += 1 }
        (kind, value) = (FieldKinds.known[name], position..<line.upperBound)
    }

    /// The extents of the tag parameter with its semicolon, and of the value in front of it and behind it.
    static func splitTag(
        _ bytes: Span<UInt8>, _ value: Range<Int>
    ) -> (value: Range<Int>, tag: Range<Int>, rest: Range<Int>) {
        var start = value.upperBound
        while start > value.lowerBound, bytes[start - 1] != UInt8(ascii: ">") { start -= 1 }
        if start > value.lowerBound { start -= 1 }
        while start + 5 <= value.upperBound {
            if isTag(bytes, start) {
                var end = start + 5
                while end < value.upperBound, isTokenByte(bytes[end]) { end += 1 }
                return (value.lowerBound..<start, start..<end, end..<value.upperBound)
            }
            start += 1
        }
        return (value, value.upperBound..<value.upperBound, value.upperBound..<value.upperBound)
    }

    /// Whether `;tag=` begins there, in any case.
    private static func isTag(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
        bytes[start] | 0x20 == UInt8(ascii: ";") && bytes[start + 1] | 0x20 == UInt8(ascii: "t")
            && bytes[start + 2] | 0x20 == UInt8(ascii: "a") && bytes[start + 3] | 0x20 == UInt8(ascii: "g")
            && bytes[start + 4] | 0x20 == UInt8(ascii: "=")
    }

    /// RFC 3261 §25.1, token.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, 0x21, 0x25, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5F, 0x60, 0x7E: true
        default: false
        }
    }
}

/// The name of a header field without case and blanks; longer names than traces distinguish are all the same.
private struct FieldName: Hashable {
    private var low: UInt64 = 0
    private var middle: UInt64 = 0
    private var high: UInt64 = 0
    private var count = 0

    init() {}

    init(_ text: String) {
        self.init()
        for byte in text.utf8 { append(byte) }
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        guard byte > 32 else { return }
        let letter = UInt64((65...90).contains(byte) ? byte | 0x20 : byte)
        switch count {
        case 0..<8: low = low << 8 | letter
        case 8..<16: middle = middle << 8 | letter
        case 16..<24: high = high << 8 | letter
        default: break
        }
        count = min(count + 1, 25)
    }

    /// A number below 256.
    var bucket: Int {
        let mixed = (low ^ middle &* 31 ^ high &* 127) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 56)
    }
}

/// The kinds of fields by name and compact form (RFC 3261 §7.3.3, RFC 4028, RFC 6665): a table of 256 places.
private struct FieldKinds {
    private var places = [(name: FieldName, kind: TraceField.Kind)](repeating: (FieldName(), .other), count: 256)

    static let known = FieldKinds()

    private init() {
        add(.credentials, "authorization proxy-authorization")
        add(
            .opaque,
            """
            cseq content-length l max-forwards expires min-expires session-expires x min-se timestamp date rseq rack \
            retry-after www-authenticate proxy-authenticate
            """)
        add(.callID, "call-id i")
        add(.via, "via v")
        add(.contentType, "content-type c")
        add(.route, "route record-route path service-route")
        add(
            .harmless,
            """
            accept accept-encoding accept-language allow allow-events u content-disposition content-encoding e event o \
            mime-version p-early-media priority privacy proxy-require reason require resource-priority server \
            subscription-state supported k unsupported user-agent warning
            """)
        add(.tagged, "from f to t")
        add(.identity, "identity y")
    }

    private mutating func add(_ kind: TraceField.Kind, _ names: String) {
        for name in names.split(separator: " ") {
            let name = FieldName(String(name))
            var place = name.bucket
            while places[place].kind != .other { place = (place + 1) & 255 }
            places[place] = (name, kind)
        }
    }

    subscript(name: FieldName) -> TraceField.Kind {
        var place = name.bucket
        while places[place].kind != .other {
            if places[place].name == name { return places[place].kind }
            place = (place + 1) & 255
        }
        return .other
    }
}
