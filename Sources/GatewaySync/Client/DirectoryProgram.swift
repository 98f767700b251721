// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Host
import Subprocess
import SystemPackage

/// The program `herald-directory` of this machine, which makes the key of a gateway.
package struct DirectoryProgram: Sendable {
    /// Largest output in bytes that is read.
    private static let largestOutput = 65_536
    /// Longest run in seconds; a key takes less than one.
    private static let limit = 20

    private let path: String

    /// The program beside this one, or of the system; nil if it is not installed.
    package init?() {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folders = [(own as NSString).deletingLastPathComponent, "/usr/bin", "/usr/local/bin"]
        guard let path = folders.map({ $0 + "/herald-directory" }).first(where: { access($0, X_OK) == 0 }) else {
            return nil
        }
        self.path = path
    }

    /// Makes a key of the default account.
    ///
    /// The key comes through a pipe, so that no command line and no further file has it.
    ///
    /// - Parameters:
    ///   - config: the directory's configuration file.
    ///   - user: the owner of the database, whose files would belong to root otherwise; nil for the user of this process.
    /// - Throws: the program's own reason. A program that does not end within 20 s is stopped, with all that it started.
    package func makeKey(
        named name: String, config: String, as user: String?
    ) async throws(CommandFailure) -> String {
        var command = [path, "keys", "add", name, "--config", config]
        if let user { command = ["/usr/sbin/runuser", "-u", user, "--"] + command }
        let (end, output, errors) = try await run(command)
        let key = Self.trimmed(output)
        guard end.isSuccess, !key.isEmpty else {
            let reason = Self.trimmed(errors).replacing("Error: ", with: "", maxReplacements: 1)
            throw CommandFailure(reason.isEmpty ? "\(path) ended with \(end)" : reason)
        }
        return key
    }

    private typealias Ended = (TerminationStatus, String, String)

    private func run(_ command: [String]) async throws(CommandFailure) -> Ended {
        // A Ctrl-C at the terminal is for this program alone: a key that is made must also be printed.
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
        ]
        let ended = await within(.seconds(Self.limit)) { [options] () async -> Result<Ended, CommandFailure> in
            do throws(CommandFailure) {
                return .success(try await Self.finished(command, options))
            } catch {
                return .failure(error)
            }
        }
        guard let ended else {
            throw CommandFailure(
                """
                \(path) did not end within \(Self.limit) s and was stopped; its database or its disk may not respond: \
                see herald-directory doctor, and run herald setup again, or give a file with its key: --key-file FILE
                """)
        }
        return try ended.get()
    }

    private static func finished(
        _ command: [String], _ options: PlatformOptions
    ) async throws(CommandFailure) -> Ended {
        try await CommandFailure.reported {
            let result = try await Subprocess.run(
                .path(FilePath(command[0])), arguments: Arguments(Array(command.dropFirst())),
                platformOptions: options,
                output: .string(limit: largestOutput), error: .string(limit: largestOutput))
            return (result.terminationStatus, result.standardOutput, result.standardError)
        }
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
