// SPDX-License-Identifier: Apache-2.0

/// An entity tag (RFC 9110 §8.8.3).
struct EntityTag: Hashable, Sendable {
    let isWeak: Bool
    /// The text between the quotes.
    let opaque: String

    /// Reads a list of tags; nil for a text that is none.
    ///
    /// Commas can be part of a tag. Empty elements of the list are skipped (§5.6.1.2).
    static func list(_ text: String) -> [EntityTag]? {
        var (tags, rest, isSeparated): ([EntityTag], ArraySlice<UInt8>, Bool) = ([], Array(text.utf8)[...], true)
        while true {
            let gap = rest.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ",") }
            if gap.contains(UInt8(ascii: ",")) { isSeparated = true }
            rest = rest.dropFirst(gap.count)
            if rest.isEmpty { return tags.isEmpty ? nil : tags }
            guard isSeparated, let tag = take(&rest) else { return nil }
            tags.append(tag)
            isSeparated = false
        }
    }

    private static func take(_ rest: inout ArraySlice<UInt8>) -> EntityTag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        let opaque = rest.dropFirst().prefix { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
        rest = rest.dropFirst(1 + opaque.count)
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest = rest.dropFirst()
        return EntityTag(isWeak: isWeak, opaque: String(decoding: opaque, as: UTF8.self))
    }
}
