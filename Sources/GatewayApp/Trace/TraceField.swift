// SPDX-License-Identifier: Apache-2.0

/// A header field of a traced message, by its line alone.
struct TraceField {
    /// The long name in lower case; empty for a line without a colon.
    let name: String
    /// The value behind the colon and its white space.
    let value: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            name = ""
            value = line
            return
        }
        let text = line[..<colon].filter { $0 > 32 }
        let written = String(decoding: text, as: UTF8.self).lowercased()
        name = Self.compact[written] ?? written
        var start = colon + 1
        while start < line.endIndex, line[start] == 32 || line[start] == 9 { start += 1 }
        value = line[start...]
    }

    /// Compact forms of the fields that traces distinguish (RFC 3261 §7.3.3, RFC 4028, RFC 6665).
    private static let compact = [
        "v": "via", "f": "from", "t": "to", "i": "call-id", "m": "contact", "l": "content-length",
        "c": "content-type", "e": "content-encoding", "k": "supported", "o": "event", "u": "allow-events",
        "x": "session-expires", "y": "identity",
    ]

    /// Never shown: they prove who somebody is.
    static let credentials: Set = ["authorization", "proxy-authorization"]

    /// Fields of the protocol, whose digits are no telephone numbers.
    static let opaque: Set = [
        "via", "call-id", "cseq", "content-length", "content-type", "max-forwards", "expires", "min-expires",
        "session-expires", "min-se", "timestamp", "date", "rseq", "rack", "retry-after", "www-authenticate",
        "proxy-authenticate",
    ]

    /// Fields that name hops.
    static let routes: Set = ["route", "record-route", "path", "service-route"]

    /// Fields that name nobody by their meaning.
    static let harmless: Set = [
        "accept", "accept-encoding", "accept-language", "allow", "allow-events", "content-disposition",
        "content-encoding", "event", "mime-version", "p-early-media", "priority", "privacy", "proxy-require", "reason",
        "require", "resource-priority", "server", "subscription-state", "supported", "unsupported", "user-agent",
        "warning",
    ]

    /// Fields whose tag belongs to the dialog.
    static let tagged: Set = ["from", "to"]

    /// The value up to its tag parameter, the parameter with its semicolon, and what follows.
    static func splitTag(
        _ value: ArraySlice<UInt8>
    ) -> (value: ArraySlice<UInt8>, tag: [UInt8], rest: ArraySlice<UInt8>) {
        let mark = Array(";tag=".utf8)
        let from = value.lastIndex(of: UInt8(ascii: ">")) ?? value.startIndex
        var start = from
        while start + mark.count <= value.endIndex {
            if value[start..<(start + mark.count)].elementsEqual(mark, by: { $0 | 0x20 == $1 | 0x20 }) {
                let end = value[(start + mark.count)...].firstIndex { !isTokenByte($0) } ?? value.endIndex
                return (value[..<start], Array(value[start..<end]), value[end...])
            }
            start += 1
        }
        return (value, [], [])
    }

    /// RFC 3261 §25.1, token.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || "-.!%*_+`'~".utf8.contains(byte)
    }

    /// A route without Herald's cookie, which has the caller's number in hexadecimal digits.
    static func withoutCookie(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> { without(";hd=", value) }

    /// A Via without the received From, which a gateway of a cluster writes into it.
    static func withoutOriginalFrom(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> { without(";hf=", value) }

    /// A value with stars in place of a parameter's value.
    private static func without(_ parameter: StaticString, _ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let mark = parameter.withUTF8Buffer { Array($0) }
        var out: [UInt8] = []
        var rest = value
        while let found = rest.firstRange(of: mark) {
            out += rest[..<found.upperBound]
            out += Array("***".utf8)
            rest = rest[found.upperBound...].drop { isTokenByte($0) }
        }
        return (out + rest)[...]
    }
}
