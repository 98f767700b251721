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
        abstract: "Scale one picture for phones. The gateway starts this program for each logo.",
        discussion: """
            Reads a PNG or JPEG from standard input and writes the result to standard output.

            Example:
              herald-scale-logo --width 128 --height 128 --format png --max-pixels 4194304 --max-file 524288 \
                <logo.jpg >logo.png

            Exit codes: 64 wrong size or format, 65 no PNG or JPEG or too large, 66 not decodable, 67 out of memory, \
            68 the system does not permit the confinement.
            """)

    @Option(help: "Width of the result in pixels, 16 to 1024.")
    var width: Int

    @Option(help: "Height of the result in pixels, 16 to 1024.")
    var height: Int

    @Option(help: "Format of the result: png, opaque_png, jpeg, bmp or grey_bmp.")
    var format: String

    @Option(help: "Largest picture in pixels.")
    var maxPixels: Int

    @Option(help: "Largest picture in bytes.")
    var maxFile: Int

    func run() throws {
        guard let encoding = LogoForm.Encoding(rawValue: format) else { throw ExitCode(64) }
        ConfinedScaling.run(
            form: LogoForm(width: width, height: height, encoding), maxPixels: maxPixels, maxFile: maxFile)
    }
}
