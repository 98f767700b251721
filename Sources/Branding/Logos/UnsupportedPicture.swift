// SPDX-License-Identifier: Apache-2.0

/// Names the format of a file that is no supported picture, for the text of a refusal.
public enum UnsupportedPicture {
    /// A name such as `svg`, by the first bytes and never by the sender's word; `unknown` for other bytes.
    public static func name(of bytes: [UInt8]) -> String {
        for (name, beginning) in beginnings where bytes.starts(with: beginning) { return name }
        if bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) {
            return bytes[8..<12].elementsEqual("qt  ".utf8) ? "mov" : "mp4"
        }
        let text = String(decoding: bytes.prefix(1024), as: UTF8.self).lowercased()
        if text.contains("<svg") { return "svg" }
        if text.contains("<html") || text.contains("<!doctype html") { return "html" }
        return bytes.isEmpty ? "empty" : "unknown"
    }

    private static let beginnings: [(String, [UInt8])] = [
        ("bmp", Array("BM".utf8)), ("tiff", [0x49, 0x49, 0x2A, 0]), ("tiff", [0x4D, 0x4D, 0, 0x2A]),
        ("ico", [0, 0, 1, 0]), ("pdf", Array("%PDF".utf8)), ("eps", Array("%!PS".utf8)), ("psd", Array("8BPS".utf8)),
        ("jxl", [0xFF, 0x0A]), ("jxl", [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]),
        ("jp2", [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]), ("zip", Array("PK".utf8)), ("gzip", [0x1F, 0x8B]),
    ]
}
