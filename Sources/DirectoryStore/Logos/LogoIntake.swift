// SPDX-License-Identifier: Apache-2.0

import Branding
package import Foundation
import LogoScaling

/// Makes a picture that somebody sends into a logo for the store.
///
/// `herald-scale-logo` decodes every picture, so a picture that cannot be shown is refused. A PNG or JPEG of at most 1 MiB
/// and 1,024 pixels a side keeps its pixels, byte for byte. Others are scaled and encoded again: upright, as PNG or JPEG.
package struct LogoIntake: Sendable {
    /// The longest file in bytes.
    package static let limit = 5 << 20
    /// The most pixels of a file: 4,096 by 4,096.
    package static let maxPixels = 16 << 20
    /// The most pixels of a side of a logo.
    package static let side = 1024

    private let program: ScaleProgram
    private let turns: DecoderTurns

    /// - Parameters:
    ///   - executable: the program; nil for the installed one.
    ///   - turns: those of all pictures of this process.
    package init(executable: String? = nil, turns: DecoderTurns = .shared) {
        self.turns = turns
        var program = ScaleProgram(maxPixels: Self.maxPixels, maxFile: Self.limit)
        program.executable = executable
        self.program = program
    }

    /// A picture ready for the store.
    package struct Kept: Hashable, Sendable {
        package let data: Data
        /// The media type.
        package let type: String
        /// Pixels.
        package let width: Int
        package let height: Int
        /// A copy of at most 256 pixels a side, in the same encoding where its length permits.
        package let thumbnail: Data

        package init(data: Data, type: String, width: Int, height: Int, thumbnail: Data) {
            self.data = data
            self.type = type
            self.width = width
            self.height = height
            self.thumbnail = thumbnail
        }
    }

    /// Checks, decodes and, if needed, converts a picture. Any task; waits for a turn, and takes up to two runs of the program.
    ///
    /// - Throws: `.busy` if too many pictures wait.
    package func kept(_ data: Data) async throws(LogoIntakeError) -> Kept {
        guard data.count <= Self.limit else { throw .tooLarge(bytes: data.count) }
        let bytes = [UInt8](data)
        let source = try Self.header(of: bytes)
        guard await turns.take() else { throw .busy }
        defer { turns.giveBack() }
        let isKept =
            source.format.isServed && bytes.count <= LogoStore.limit && max(source.width, source.height) <= Self.side
            && PictureOrientation.of(bytes) == nil
        let logo = isKept ? PictureMetadata.removed(from: bytes) : try await made(bytes, side: Self.side)
        let thumbnail = try await made(logo, side: LogoThumbnail.side)
        let picture = try Self.header(of: logo)
        return Kept(
            data: Data(logo), type: picture.format.contentType, width: picture.width, height: picture.height,
            thumbnail: Data(thumbnail))
    }

    private static func header(of bytes: [UInt8]) throws(LogoIntakeError) -> LogoPicture {
        let picture: LogoPicture
        do throws(LogoPictureError) {
            picture = try LogoPicture(bytes)
        } catch {
            throw error == .otherFormat ? .unsupported(UnsupportedPicture.name(of: bytes)) : .damaged
        }
        guard max(picture.width, picture.height) <= maxPixels, picture.pixels <= maxPixels else {
            throw .tooManyPixels(width: picture.width, height: picture.height)
        }
        return picture
    }

    private func made(_ bytes: [UInt8], side: Int) async throws(LogoIntakeError) -> [UInt8] {
        do throws(ScaleFailure) {
            return try await program.run(
                bytes,
                [
                    "--width", "\(side)", "--height", "\(side)", "--format", "kept", "--max-result",
                    "\(LogoStore.limit)",
                ])
        } catch {
            switch error {
            case .tooLarge, .outOfMemory: throw .tooMuchWork
            case .undecodable, .otherFormat, .ended, .unusable: throw .damaged
            case .stopped: throw error.isTimeout ? .tooSlow : .damaged
            case .missing, .notConfined: throw .unavailable("\(error)")
            }
        }
    }
}

/// Why a picture is refused.
package enum LogoIntakeError: OperatorError, Hashable {
    case tooLarge(bytes: Int)
    /// With the name of the format, by the first bytes.
    case unsupported(String)
    /// Cut short, or not decodable.
    case damaged
    case tooManyPixels(width: Int, height: Int)
    /// Decoding takes more memory than allowed.
    case tooMuchWork
    /// Decoding takes more time than allowed.
    case tooSlow
    /// Too many pictures wait to be decoded.
    case busy
    case unavailable(String)

    package var kind: OperatorMistakeKind {
        switch self {
        case .busy, .unavailable: .unavailable
        default: .invalid
        }
    }

    package var description: String {
        switch self {
        case .tooLarge: "a picture has at most \(LogoIntake.limit) bytes; make it smaller"
        case .unsupported("svg"): "an SVG is not taken, because it can carry scripts; export it as PNG"
        case .unsupported("empty"), .unsupported("unknown"):
            "the file is no picture; send a PNG, JPEG, WebP, GIF, AVIF or HEIC"
        case .unsupported(let name):
            "\(name) is no format of a logo; send a PNG, JPEG, WebP, GIF, AVIF or HEIC"
        case .damaged: "the picture is cut short or damaged; export it again"
        case .tooManyPixels(let width, let height):
            "the picture has \(width) by \(height) pixels, and at most \(LogoIntake.maxPixels) are decoded; scale it down"
        case .tooMuchWork: "decoding the picture takes too much memory; scale it down, or send it as PNG or JPEG"
        case .tooSlow: "decoding the picture takes too long; scale it down, or send it as PNG or JPEG"
        case .busy: "too many pictures are being decoded; send it again in a moment"
        case .unavailable(let problem): "pictures cannot be decoded: \(problem); install herald-scale-logo"
        }
    }
}
