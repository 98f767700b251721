// SPDX-License-Identifier: Apache-2.0

package import Branding
import Foundation
import Glibc
import Host
package import Logging
import Subprocess
import SystemPackage

/// Makes a picture in one form for phones. The one for production runs the decoder in a process of its own.
package typealias LogoShaper =
    @Sendable (_ bytes: [UInt8], _ form: LogoForm) async throws(LogoProblem) -> [UInt8]

/// Runs `herald-scale-logo` for one picture and one form, so that a decoder's fault ends there.
///
/// Picture and result travel through memory files. The child has no other descriptor and no environment. It ends by itself
/// after ten seconds at most, see `ConfinedScaling`; a cancelled task ends it at once.
package struct LogoScaler: Sendable {
    static let name = "herald-scale-logo"

    /// The program; nil for the installed one.
    package var executable: String?
    /// Longest result in bytes.
    package var limit = 8 << 20
    package var maxPixels: Int
    package var maxFile: Int

    package init(maxPixels: Int, maxFile: Int) {
        self.maxPixels = maxPixels
        self.maxFile = maxFile
    }

    /// Logs a warning with the remedy if the program is missing. Calls are not affected; logos are not scaled.
    package func reportIfMissing(to logger: Logger) {
        guard let problem = problem(executable ?? Self.installed()) else { return }
        logger.warning(
            "logos are not scaled, calls are not affected; install the program, or set logos.scale: false",
            metadata: ["error": "\(problem)"])
    }

    /// Returns the path of the program beside the running one, or in `libexec` beside its folder.
    ///
    /// - Returns: the path beside the running program if there is none in either folder.
    static func installed(beside own: String = ownExecutable) -> String {
        let folder = (own as NSString).deletingLastPathComponent
        let beside = "\(folder)/\(name)"
        let libexec = "\((folder as NSString).deletingLastPathComponent)/libexec/\(name)"
        return access(beside, X_OK) != 0 && access(libexec, X_OK) == 0 ? libexec : beside
    }

    /// The path of the running program, also after its file was replaced.
    private static var ownExecutable: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let deleted = " (deleted)"
        return path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
    }

    private func problem(_ program: String) -> String? {
        access(program, X_OK) == 0 ? nil : "\(program) cannot be run: \(SystemError.text(errno))"
    }

    /// Waits for the child without a thread.
    package func picture(_ bytes: [UInt8], as form: LogoForm) async throws(LogoProblem) -> [UInt8] {
        let program = executable ?? Self.installed()
        if let problem = problem(program) { throw .scaling(problem) }
        let (source, made): (MemoryFile, MemoryFile)
        do throws(MemoryFile.Failure) {
            (source, made) = (try MemoryFile(bytes, "herald-logo"), try MemoryFile([], "herald-logo"))
        } catch {
            throw .scaling("\(error)")
        }
        let arguments: [String] = [
            "--width", "\(form.width)", "--height", "\(form.height)", "--format", form.encoding.rawValue,
            "--max-pixels", "\(maxPixels)", "--max-file", "\(maxFile)",
        ]
        let end: TerminationStatus
        do {
            end = try await Subprocess.run(
                .path(FilePath(program)), arguments: Arguments(arguments), environment: .custom([:]),
                input: .fileDescriptor(FileDescriptor(rawValue: source.descriptor), closeAfterSpawningProcess: false),
                output: .fileDescriptor(FileDescriptor(rawValue: made.descriptor), closeAfterSpawningProcess: false),
                error: .discarded
            ).terminationStatus
        } catch {
            throw .scaling("no process: \(error)")
        }
        guard end.isSuccess else { throw .scaling(Self.reason(end)) }
        guard let result = made.content(limit: limit) else { throw .scaling("the result is not usable") }
        return result
    }

    /// Describes the child's end. Its exit codes are those of `LogoScalingError`.
    private static func reason(_ end: TerminationStatus) -> String {
        switch end {
        case .signaled(let signal): "the decoder was stopped by signal \(signal)"
        case .exited(65): "it is refused"
        case .exited(66): "it cannot be decoded"
        case .exited(67): "it takes too much memory"
        case .exited(68): "the decoder could not be confined on this system"
        case .exited(let code): "the decoder ended with \(code)"
        }
    }
}
