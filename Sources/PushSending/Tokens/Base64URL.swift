// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Base64 with the alphabet of URLs, without padding, in its canonical form alone (RFC 4648 §3.5, §5).
enum Base64URL {
    static func encode(_ bytes: some DataProtocol) -> String {
        var text = Data(bytes).base64EncodedString()
        text.removeAll { $0 == "=" }
        return String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// The bytes; nil for another character, length or unused bit.
    static func decode(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard + padding), encode(data) == text else { return nil }
        return [UInt8](data)
    }
}
