// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The display name that the originator of a dialog wrote into From, as the `hn` parameter of the gateway's Record-Route.
///
/// The called side repeats the From of the INVITE as To of its own requests (RFC 3261 §12.2.1.1), with the name that the
/// gateway wrote. Route returns the parameter, so the originator's own text can be put back without memory of the call.
/// The text has letters, digits, `-` and `.`; every other byte is `_` and two hexadecimal digits, which `PlainURI` reads.
public enum CarrierName {
    /// Longest parameter value in bytes; a longer name is not carried, and To then gets none.
    public static let longest = 120

    /// The name of a request's From, as written; empty for none.
    static func text(in request: SIPMessage) -> ArraySlice<UInt8> {
        guard let name = request.from?.displayName, request.from?.hasBrackets == true else { return [] }
        return request[LWS.trimmed(request.bytes, name)]
    }

    /// Writes the parameter, or nothing without a name and for one that is too long.
    static func append(_ name: ArraySlice<UInt8>, to out: inout [UInt8]) {
        guard !name.isEmpty, name.count <= longest else { return }
        let start = out.count
        out.append(addingCapacity: 4 + name.count * 3) { out in
            out.append(";hn=")
            for byte in name {
                if isPlain(byte) { out.append(byte) } else { out.append(UInt8(ascii: "_"), escaping: byte) }
            }
        }
        if out.count - start > longest + 4 { out.removeSubrange(start...) }
    }

    /// Puts the originator's name back into To of a request that the called side sends.
    ///
    /// - Returns: To as received where it changes; empty where it stays.
    public static func restore(in request: SIPMessage, into splices: inout Splices) -> [UInt8] {
        guard let to = request.to, to.hasBrackets, !to.displayName.isEmpty, let field = request.first(.to) else {
            return []
        }
        let name = read(in: request)
        guard name[...] != request[LWS.trimmed(request.bytes, to.displayName)] else { return [] }
        splices.replace(to.displayName.lowerBound..<(to.uri.lowerBound - 1)) { out in
            guard !name.isEmpty else { return }
            out.append(contentsOf: name)
            out.append(" ")
        }
        return Array(request[field.value])
    }

    /// The name in the Route of the gateway; empty without one, and for text that no name can have.
    private static func read(in request: SIPMessage) -> [UInt8] {
        for field in request.headers where field.name == .route {
            for value in HeaderValues(request.bytes, field.value) {
                let uri = NameAddressExtent.scan(request.bytes, value).uri
                guard let entry = SIPURI(request.bytes, uri), entry.parameter("hd") != nil else { continue }
                let name = read(in: entry)
                if !name.isEmpty { return name }
            }
        }
        return []
    }

    /// The name in an entry of the gateway; empty for none.
    static func read(in entry: SIPURI) -> [UInt8] { entry.parameter("hn").map(decoded) ?? [] }

    /// The text that `append(_:to:)` wrote; empty for text that it never writes.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var name: [UInt8] = []
        name.reserveCapacity(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            guard text[position] == UInt8(ascii: "_") else {
                name.append(text[position])
                position += 1
                continue
            }
            guard position + 2 < text.endIndex, let high = Hexadecimal.digit(text[position + 1]),
                let low = Hexadecimal.digit(text[position + 2])
            else { return [] }
            name.append(high << 4 | low)
            position += 3
        }
        // Nobody can begin another header line with it.
        return name.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } ? name : []
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
