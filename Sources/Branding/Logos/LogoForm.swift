// SPDX-License-Identifier: Apache-2.0

/// The size and encoding of a logo for phones.
public struct LogoForm: Hashable, Sendable {
    /// An encoding that phones decode.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        /// PNG with transparency.
        case png
        /// PNG of 24 bits without transparency.
        case opaquePNG = "opaque_png"
        /// Baseline JPEG (ITU-T T.81), never progressive.
        case jpeg
        /// Uncompressed BMP of 8 bits with a palette.
        case bmp
        /// Uncompressed BMP of 8 bits with a palette of 256 greys.
        case greyBMP = "grey_bmp"

        /// The extension of a file name, without the dot.
        public var fileExtension: String {
            switch self {
            case .png, .opaquePNG: "png"
            case .jpeg: "jpg"
            case .bmp, .greyBMP: "bmp"
            }
        }

        /// The media type (RFC 9110 §8.3).
        public var contentType: String {
            switch self {
            case .png, .opaquePNG: "image/png"
            case .jpeg: "image/jpeg"
            case .bmp, .greyBMP: "image/bmp"
            }
        }

        /// The part of a file name that separates encodings with one extension.
        fileprivate var marker: String {
            switch self {
            case .opaquePNG: "opaque"
            case .greyBMP: "grey"
            case .png, .jpeg, .bmp: ""
            }
        }
    }

    /// Width in pixels, 16 to 1024.
    public let width: Int
    /// Height in pixels, 16 to 1024.
    public let height: Int
    public let encoding: Encoding

    public init(width: Int, height: Int, _ encoding: Encoding) {
        self.width = width
        self.height = height
        self.encoding = encoding
    }

    /// The end of a file name: height, width and extension, as in RFC 9796.
    public var key: String { "\(height)x\(width)\(encoding.marker).\(encoding.fileExtension)" }
}

/// A family of phones, named by its vendor, with the form of logo that its documents ask for.
public enum PhoneFamily: String, Hashable, Sendable, CaseIterable {
    case auerswald, gigaset, grandstream, mitel
    case mitel6739 = "mitel_6739"
    case snom
    case snom370 = "snom_370"
    case snomM9 = "snom_m9"

    /// The form that the family shows.
    ///
    /// Sources: snom, setting `user_pic`; snom m9 manual, Caller Picture Display; Mitel 6800 and Aastra 6739i administrator
    /// guides, `image server uri`; Auerswald COMfortel manual, firmware 2.8.
    public var form: LogoForm {
        switch self {
        case .auerswald, .gigaset, .grandstream, .snom: LogoForm(width: 128, height: 128, .jpeg)
        case .mitel: LogoForm(width: 150, height: 150, .opaquePNG)
        case .mitel6739: LogoForm(width: 150, height: 200, .opaquePNG)
        case .snom370: LogoForm(width: 64, height: 64, .greyBMP)
        case .snomM9: LogoForm(width: 40, height: 50, .jpeg)
        }
    }
}
