// SPDX-License-Identifier: Apache-2.0

extension TrustVerdict.SignedIcon {
    /// The SHA-256 digest of the picture's bytes as lower-case hexadecimal digits; nil without one, and for another hash
    /// function.
    public var pictureHash: String? {
        guard case .named(_, let digest) = self, digest.hasPrefix("sha256-") else { return nil }
        var characters = Array(digest.utf8.dropFirst(7))
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        guard let bytes = Base64.decode(characters.span, .standard) else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
