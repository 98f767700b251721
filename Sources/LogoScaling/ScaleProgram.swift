// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Host
import Subprocess
import SystemPackage

/// Runs `herald-scale-logo` for one picture, so that a decoder's fault ends there.
///
/// Picture and result travel through memory files. The child has no other descriptor and no environment. It ends by itself
/// after ten seconds at most; a cancelled task ends it at once.
package struct ScaleProgram: Sendable {
    package static let name = "herald-scale-logo"
    /// Seconds after which the child has ended.
    package static let longest = 10

    /// The program; nil for the installed one.
    package var executable: String?
    /// Longest result in bytes.
    package var limit = 8 << 20
    /// Most pixels of a source.
    package var maxPixels: Int
    /// Longest source in bytes.
    package var maxFile: Int

    package init(maxPixels: Int, maxFile: Int) {
        self.maxPixels = maxPixels
        self.maxFile = maxFile
    }

    /// The reason why the program cannot be run; nil if it can.
    package var problem: String? {
        let program = executable ?? Self.installed()
        return access(program, X_OK) == 0 ? nil : "\(program) cannot be run: \(SystemError.text(errno))"
    }

    /// Returns the path of the program beside the running one, or in `libexec` beside its folder.
    ///
    /// The package of the directory has a copy in `libexec/herald-directory`, so that it needs no gateway.
    ///
    /// - Returns: the path beside the running program if there is none in any folder.
    package static func installed(beside own: String = ownExecutable) -> String {
        let folder = (own as NSString).deletingLastPathComponent
        let libexec = (folder as NSString).deletingLastPathComponent + "/libexec"
        let places = ["\(folder)/\(name)", "\(libexec)/\(name)", "\(libexec)/herald-directory/\(name)"]
        return places.first { access($0, X_OK) == 0 } ?? places[0]
    }

    /// The path of the running program, also after its file was replaced.
    package static var ownExecutable: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let deleted = " (deleted)"
        return path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
    }

    /// Returns the result of the child. Waits for it without a thread.
    ///
    /// - Parameter arguments: the form of the result; the limits are added.
    package func run(_ bytes: [UInt8], _ arguments: [String]) async throws(ScaleFailure) -> [UInt8] {
        if let problem { throw .missing(problem) }
        let (source, made): (MemoryFile, MemoryFile)
        do throws(MemoryFile.Failure) {
            (source, made) = (try MemoryFile(bytes, "herald-logo"), try MemoryFile([], "herald-logo"))
        } catch {
            throw .missing("\(error)")
        }
        let limits = ["--max-pixels", "\(maxPixels)", "--max-file", "\(maxFile)"]
        let end: TerminationStatus
        do {
            end = try await Subprocess.run(
                .path(FilePath(executable ?? Self.installed())), arguments: Arguments(arguments + limits),
                environment: .custom([:]),
                input: .fileDescriptor(FileDescriptor(rawValue: source.descriptor), closeAfterSpawningProcess: false),
                output: .fileDescriptor(FileDescriptor(rawValue: made.descriptor), closeAfterSpawningProcess: false),
                error: .discarded
            ).terminationStatus
        } catch {
            throw .missing("no process: \(error)")
        }
        guard end.isSuccess else { throw Self.failure(end) }
        guard let result = made.content(limit: limit) else { throw .unusable }
        return result
    }

    /// The exit codes are those of `LogoScalingError`.
    private static func failure(_ end: TerminationStatus) -> ScaleFailure {
        switch end {
        // The kernel's way when memory runs out: its limits of time have other signals.
        case .signaled(SIGKILL): .outOfMemory
        case .signaled(let signal): .stopped(signal: signal)
        case .exited(65): .tooLarge
        case .exited(66): .undecodable
        case .exited(67): .outOfMemory
        case .exited(68): .notConfined
        case .exited(69): .otherFormat
        case .exited(let code): .ended(code: code)
        }
    }
}

/// Why a picture has no result.
package enum ScaleFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program is not there, or no process can be started.
    case missing(String)
    /// Too many pixels or bytes.
    case tooLarge
    case undecodable
    case outOfMemory
    case notConfined
    case otherFormat
    case stopped(signal: CInt)
    case ended(code: CInt)
    case unusable

    /// True if a limit of time ended the child: of CPU time, or of waiting.
    package var isTimeout: Bool {
        guard case .stopped(let signal) = self else { return false }
        return signal == SIGALRM || signal == SIGXCPU
    }

    package var description: String {
        switch self {
        case .missing(let problem): problem
        case .tooLarge: "it is too large"
        case .undecodable: "it cannot be decoded"
        case .outOfMemory: "it takes too much memory"
        case .notConfined: "the decoder could not be confined on this system"
        case .otherFormat: "it is refused"
        case .stopped where isTimeout: "decoding it takes too long"
        case .stopped(let signal): "the decoder was stopped by signal \(signal)"
        case .ended(let code): "the decoder ended with \(code)"
        case .unusable: "the result is not usable"
        }
    }
}
