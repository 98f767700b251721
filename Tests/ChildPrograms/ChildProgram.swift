// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A program that a test has run to its end, with what it wrote.
///
/// By posix_spawn and files: Foundation's `Process.run` lists the open descriptors while other threads open theirs, and
/// read past its list in one of four runs of all tests on a busy machine.
package struct ChildProgram: Sendable {
    /// Its exit code; -1 when a signal ended it.
    package let code: Int32
    package let output: String
    package let errors: String

    /// Runs a program, found on the path when it is named without a slash, and waits for its end.
    ///
    /// It gets the environment of the tests, the null device as its input, and whatever descriptors are not
    /// closed by exec. The wait is on a thread of its own: two waiting ones of the pool would stop all other tests.
    /// - Throws: `POSIXError` when it cannot be started.
    package static func run(_ executable: String, _ arguments: [String]) async throws -> ChildProgram {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try ChildProgram(running: executable, arguments) }) }
        }
    }

    private init(running executable: String, _ arguments: [String]) throws {
        let (output, errors) = (try Self.temporaryFile(), try Self.temporaryFile())
        defer {
            close(output)
            close(errors)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        var child = pid_t()
        let failure = Self.withCStrings([executable] + arguments) { arguments in
            Self.withCStrings(environment) { environment in
                posix_spawnp(&child, executable, &actions, nil, arguments, environment)
            }
        }
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        code = status & 0x7F == 0 ? status >> 8 & 0xFF : -1
        self.output = Self.text(of: output)
        self.errors = Self.text(of: errors)
    }

    static func temporaryFile() throws -> Int32 {
        var path = Array((FileManager.default.temporaryDirectory.path + "/child-XXXXXX").utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        unlink(path)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }

    static func text(of file: Int32) -> String {
        let size = Int(lseek(file, 0, SEEK_END))
        return String(unsafeUninitializedCapacity: max(size, 0)) { max(pread(file, $0.baseAddress, size, 0), 0) }
    }

    static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var copies = strings.map { strdup($0) } + [nil]
        defer { copies.forEach { free($0) } }
        return body(&copies)
    }
}
