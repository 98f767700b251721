// SPDX-License-Identifier: Apache-2.0

/// The format and size of an image, read from its header without decoding.
///
/// Pure; the time is bounded by the number of bytes, so hostile input is safe. Ignores any declared `Content-Type`.
public struct LogoPicture: Hashable, Sendable {
    /// An image format that brands and directories send. `LogoForm` has those for phones.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        case png, jpeg, webp, gif, avif, heic

        /// The extension of a file name, without the dot.
        public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

        /// The media type (RFC 9110 §8.3).
        public var contentType: String { "image/\(rawValue)" }

        /// True for the formats that phones and all clients of a directory decode.
        public var isServed: Bool { self == .png || self == .jpeg }

        /// The names that a person knows, as in `supported_formats` of a refusal.
        public static let names = ["png", "jpg", "jpeg", "webp", "gif", "avif", "heic", "heif"]

        /// The format by the first bytes; nil for another one.
        public init?(_ bytes: [UInt8]) {
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if WebPHeader.begins(bytes) {
                self = .webp
            } else if GIFHeader.begins(bytes) {
                self = .gif
            } else {
                switch ImageContainer.kind(of: bytes) {
                case .avif: self = .avif
                case .heic: self = .heic
                case nil: return nil
                }
            }
        }
    }

    public let format: Format
    /// Width in pixels, at least 1.
    public let width: Int
    /// Height in pixels, at least 1.
    public let height: Int

    /// The number of pixels that a decoder allocates.
    public var pixels: Int { width * height }

    /// Parses the header and checks that the end of the image is present.
    ///
    /// - Throws: if the bytes are of another format, are truncated, or declare no size.
    public init(_ bytes: [UInt8]) throws(LogoPictureError) {
        guard let format = Format(bytes) else { throw .otherFormat }
        self.format = format
        (width, height) =
            switch format {
            case .png: try Self.sizeOfPNG(bytes)
            case .jpeg: try Self.sizeOfJPEG(bytes)
            case .webp: try WebPHeader.size(of: bytes)
            case .gif: try GIFHeader.size(of: bytes)
            case .avif, .heic: try ImageContainer.size(of: bytes)
            }
        guard width > 0, height > 0 else { throw .noSize }
    }

    /// Walks the chunks from IHDR to IEND (PNG specification, §5).
    private static func sizeOfPNG(_ bytes: [UInt8]) throws(LogoPictureError) -> (Int, Int) {
        var position = 8
        var size: (Int, Int)?
        while position + 12 <= bytes.count {
            let length = number(bytes, position, 4)
            let type = bytes[position + 4..<position + 8]
            guard length <= bytes.count - position - 12 else { throw .cut }
            if size == nil {
                guard type.elementsEqual("IHDR".utf8), length == 13 else { throw .noSize }
                size = (number(bytes, position + 8, 4), number(bytes, position + 12, 4))
            }
            if type.elementsEqual("IEND".utf8), let size { return size }
            position += 12 + length
        }
        throw .cut
    }

    /// Walks the segments up to the frame header (ITU-T T.81, annex B).
    private static func sizeOfJPEG(_ bytes: [UInt8]) throws(LogoPictureError) -> (Int, Int) {
        var position = 2
        while position + 4 <= bytes.count {
            guard bytes[position] == 0xFF else { throw .noSize }
            let marker = bytes[position + 1]
            if marker == 0xFF {
                position += 1
                continue
            }
            let length = number(bytes, position + 2, 2)
            guard length >= 2, marker != 0xD9, marker != 0xDA else { throw .noSize }
            guard position + 2 + length <= bytes.count else { throw .cut }
            // C4 and CC are tables, C8 is reserved. The other markers of this row are frame headers.
            if (0xC0...0xCF).contains(marker), marker != 0xC4, marker != 0xC8, marker != 0xCC {
                guard length >= 8 else { throw .noSize }
                let tail = bytes.suffix(1024)
                let hasEnd = zip(tail, tail.dropFirst()).contains { $0 == 0xFF && $1 == 0xD9 }
                guard hasEnd else { throw .cut }
                return (number(bytes, position + 7, 2), number(bytes, position + 5, 2))
            }
            position += 2 + length
        }
        throw .cut
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
        bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
