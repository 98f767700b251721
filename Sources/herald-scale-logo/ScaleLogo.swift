// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import LogoScaling

/// `herald-scale-logo`: the short-lived process that decodes one picture.
///
/// A program of its own, so that libgd and its decoders are mapped into no other process. The gateway starts it.
/// It has no asynchronous code: the process gives up its rights for all threads, and libdispatch ends a process in
/// which the system refuses a call of one of its threads.
@main
struct ScaleLogo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "herald-scale-logo",
        abstract: "Make a square of one picture. The gateway starts this program for each logo.",
        discussion: """
            Reads a PNG or JPEG from standard input and writes the square to standard output.

            Example:
              herald-scale-logo --size 128 --format png --max-pixels 4194304 --max-file 524288 <logo.jpg >logo.png

            Exit codes: 64 wrong size or format, 65 no PNG or JPEG or too large, 66 not decodable, 67 out of memory, \
            68 the system does not permit the confinement.
            """)

    @Option(help: "Width and height of the square in pixels, 16 to 1024.")
    var size: Int

    @Option(help: "Format of the square: png, jpeg or bmp.")
    var format: String

    @Option(help: "Largest picture in pixels.")
    var maxPixels: Int

    @Option(help: "Largest picture in bytes.")
    var maxFile: Int

    func run() throws {
        guard let format = LogoPicture.Format(rawValue: format) else { throw ExitCode(64) }
        ConfinedScaling.run(size: size, format: format, maxPixels: maxPixels, maxFile: maxFile)
    }
}
