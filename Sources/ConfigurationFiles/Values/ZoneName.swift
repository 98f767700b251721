// SPDX-License-Identifier: Apache-2.0

/// The name of a zone (RFC 1035 §2.3.1, with digits and underscores anywhere).
package struct ZoneName: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a name in text.
    package static let longest = 128

    /// Labels in lower case, without the root.
    package let labels: [[UInt8]]

    /// Reads a name with at least two labels, with or without its last dot; nil for other text.
    package init?(_ text: String) {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count >= 2, name.utf8.count <= Self.longest,
            parts.allSatisfy({ (1...63).contains($0.count) && $0.allSatisfy(Self.isAllowed) })
        else { return nil }
        labels = name.lowercased().utf8.split(separator: UInt8(ascii: ".")).map(Array.init)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    package var description: String {
        labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }
}
