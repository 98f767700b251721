// SPDX-License-Identifier: Apache-2.0

package import Branding
package import Logging
import LogoScaling

/// Makes a picture in one form for phones. The one for production runs the decoder in a process of its own.
package typealias LogoShaper =
    @Sendable (_ bytes: [UInt8], _ form: LogoForm) async throws(LogoProblem) -> [UInt8]

/// Makes the forms of a logo for phones by `herald-scale-logo`, one process for each.
package struct LogoScaler: Sendable {
    private var program: ScaleProgram

    /// The program; nil for the installed one.
    package var executable: String? {
        get { program.executable }
        set { program.executable = newValue }
    }

    /// Most pixels of a source.
    package var maxPixels: Int {
        get { program.maxPixels }
        set { program.maxPixels = newValue }
    }

    /// Longest source in bytes.
    package var maxFile: Int {
        get { program.maxFile }
        set { program.maxFile = newValue }
    }

    package init(maxPixels: Int, maxFile: Int) { program = ScaleProgram(maxPixels: maxPixels, maxFile: maxFile) }

    /// Logs a warning with the remedy if the program is missing. Calls are not affected; logos are not scaled.
    package func reportIfMissing(to logger: Logger) {
        guard let problem = program.problem else { return }
        logger.warning(
            "logos are not scaled, calls are not affected; install the program, or set logos.scale: false",
            metadata: ["error": "\(problem)"])
    }

    package func picture(_ bytes: [UInt8], as form: LogoForm) async throws(LogoProblem) -> [UInt8] {
        do throws(ScaleFailure) {
            return try await program.run(
                bytes, ["--width", "\(form.width)", "--height", "\(form.height)", "--format", form.encoding.rawValue])
        } catch {
            throw .scaling("\(error)")
        }
    }
}
