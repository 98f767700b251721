// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Converts bytes to lower-case hexadecimal digits and back.
package enum Hexadecimal {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Reads digits of either case; nil for other text and for more than 64 bytes.
    package static func bytes(_ text: String) -> Data? {
        guard text.utf8.count % 2 == 0, text.utf8.count <= 128 else { return nil }
        var bytes = Data()
        var rest = text.utf8[...]
        while let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) {
            bytes.append(high << 4 | low)
        }
        return bytes.count == text.utf8.count / 2 ? bytes : nil
    }

    /// `count` random bytes as text, after a prefix that names the kind of secret.
    static func secret(_ prefix: String, bytes count: Int = 32) -> String {
        var generator = SystemRandomNumberGenerator()
        return prefix + text((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
