// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import LogoScaling

/// `herald scale-logo`: decodes one picture in a short-lived process; started by the gateway only.
struct ScaleLogoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale-logo", abstract: "Scale the picture on standard input to a square.", shouldDisplay: false)

    @Option var size: Int
    @Option var format: String
    @Option var maxPixels: Int
    @Option var maxFile: Int

    func run() throws {
        guard let format = LogoPicture.Format(rawValue: format) else { throw ExitCode(64) }
        ConfinedScaling.run(size: size, format: format, maxPixels: maxPixels, maxFile: maxFile)
    }
}
