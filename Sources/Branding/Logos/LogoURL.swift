// SPDX-License-Identifier: Apache-2.0

/// Checks logo URLs before they enter a header.
enum LogoURL {
    /// True for an `https` URL of at most 2048 visible ASCII characters that is safe between angle brackets.
    ///
    /// Rejects characters outside RFC 3986 §2, such as `{` and `}`, so `${` cannot pass. Rejects a user name or
    /// password. Accepts `http` with `allowInsecure`.
    static func isSafe(_ text: String, allowInsecure: Bool) -> Bool {
        let bytes = Array(text.utf8.prefix(2049))
        guard bytes.count <= 2048 else { return false }
        let isSecure = hasScheme("https://", bytes)
        guard isSecure || allowInsecure && hasScheme("http://", bytes) else { return false }
        let rest = bytes.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let first = authority.first, first != UInt8(ascii: ":"), !authority.contains(UInt8(ascii: "@")) else {
            return false
        }
        return rest.allSatisfy { (0x21...0x7E).contains($0) && !isOutsideGrammar($0) }
    }

    private static func hasScheme(_ scheme: String, _ bytes: [UInt8]) -> Bool {
        let head = bytes.prefix(scheme.utf8.count).map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return head.elementsEqual(scheme.utf8)
    }

    private static func isOutsideGrammar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }
}
