// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding

/// `herald-scale-logo`: the short-lived process that decodes one picture.
///
/// A program of its own, so that libgd and its decoders are mapped into no other process. The gateway starts it.
/// It has no asynchronous code: the process gives up its rights for all threads, and libdispatch ends a process in
/// which the system refuses a call of one of its threads.
@main
struct ScaleLogo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "herald-scale-logo",
        abstract: "Scale one picture. The gateway and the directory start this program for each logo.",
        discussion: """
            Reads a PNG, JPEG, WebP, GIF, AVIF or HEIC from standard input and writes the result to standard output.

            Example:
              herald-scale-logo --width 128 --height 128 --format png --max-pixels 4194304 --max-file 524288 \
                <logo.jpg >logo.png

            Exit codes: 64 wrong size or format, 65 too large, 66 cut short or not decodable, 67 out of memory, \
            68 the system does not permit the confinement, 69 another format.
            """)

    @Option(help: "Width of the result in pixels, 16 to 1024.")
    var width: Int

    @Option(help: "Height of the result in pixels, 16 to 1024.")
    var height: Int

    @Option(
        help: """
            Format of the result: png, opaque_png, jpeg, bmp or grey_bmp; kept for PNG or JPEG, as the picture asks \
            for, in its own proportions and at most this width.
            """)
    var format: String

    @Option(help: "Largest picture in pixels.")
    var maxPixels: Int

    @Option(help: "Largest picture in bytes.")
    var maxFile: Int

    @Option(help: "Largest result in bytes, with the format kept.")
    var maxResult = 8 << 20

    func run() throws {
        let (width, height, maxPixels, maxResult) = (width, height, maxPixels, maxResult)
        if format == "kept" {
            ConfinedScaling.run(maxFile: maxFile) { bytes throws(LogoScalingError) in
                try LogoScaling.kept(bytes, side: width, maxPixels: maxPixels, maxBytes: maxResult)
            }
        }
        guard let encoding = LogoForm.Encoding(rawValue: format) else { throw ExitCode(64) }
        ConfinedScaling.run(maxFile: maxFile) { bytes throws(LogoScalingError) in
            try LogoScaling.picture(bytes, as: LogoForm(width: width, height: height, encoding), maxPixels: maxPixels)
        }
    }
}
