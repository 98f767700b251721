// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A program that a person has used at a terminal, to its end.
///
/// Its input and its errors are the terminal; its output goes to a file of its own, as with `program >file`.
package struct TerminalProgram: Sendable {
    /// A text on the screen, and the keys that are typed once it is there.
    package struct Turn: Sendable {
        package let screen: String
        package let keys: String

        /// - Parameter keys: with a line end where the person presses Enter.
        package init(_ screen: String, _ keys: String) { (self.screen, self.keys) = (screen, keys) }
    }

    /// The interrupt key, Ctrl-C.
    package static let interrupt = "\u{3}"
    /// The end of the input, Ctrl-D.
    package static let endOfInput = "\u{4}"

    /// Its exit code; -1 when a signal ended it.
    package private(set) var code: Int32 = -1
    /// The signal that ended it; nil for an exit.
    package private(set) var signal: Int32?
    /// What the person saw, with the keys that the terminal echoed.
    package private(set) var screen = ""
    package private(set) var output = ""
    /// Whether the terminal shows typed keys after the end.
    package private(set) var echoes = false

    /// Runs a program and types the keys of each turn when its text is on the screen.
    ///
    /// - Throws: `POSIXError` when it cannot be started, `ETIMEDOUT` when a text does not come.
    package static func run(
        _ executable: String, _ arguments: [String], _ turns: [Turn]
    ) async throws -> TerminalProgram {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread {
                done.resume(with: Result { try TerminalProgram(running: executable, arguments, turns) })
            }
        }
    }

    private init(running executable: String, _ arguments: [String], _ turns: [Turn]) throws {
        // The calls of grantpt(3) and its kin on Linux (ioctl_tty(2)), which Glibc's module does not declare.
        let (unlock, numberOf): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        guard terminal >= 0, ioctl(terminal, unlock, &isLocked) == 0, ioctl(terminal, numberOf, &number) == 0 else {
            throw Self.error(errno)
        }
        defer { close(terminal) }
        let path = "/dev/pts/\(number)"
        // Kept open, so that the terminal outlives the program and its settings can be read.
        let own = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        let file = try ChildProgram.temporaryFile()
        defer {
            close(own)
            close(file)
        }
        let child = try Self.spawn(executable, arguments, terminal: path, output: file)
        let isComplete = play(turns, terminal, child)
        var status: Int32 = 0
        if !isComplete { kill(child, SIGKILL) }
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        read(terminal, wait: 0)
        (code, signal) = status & 0x7F == 0 ? (status >> 8 & 0xFF, nil) : (-1, status & 0x7F)
        output = ChildProgram.text(of: file)
        var settings = termios()
        echoes = tcgetattr(own, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
        guard isComplete else { throw Self.error(ETIMEDOUT) }
    }

    private static func error(_ code: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }

    /// Starts the program in a session of its own, whose terminal its first open file becomes.
    private static func spawn(
        _ executable: String, _ arguments: [String], terminal: String, output: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var usual = sigset_t()
        sigemptyset(&none)
        sigemptyset(&usual)
        sigaddset(&usual, SIGINT)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        // POSIX_SPAWN_SETSID, which Glibc's module does not declare.
        let ownSession: Int32 = 0x80
        posix_spawnattr_setflags(
            &attributes, Int16(ownSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        var child = pid_t()
        let failure = ChildProgram.withCStrings([executable] + arguments) { arguments in
            ChildProgram.withCStrings(environment) { environment in
                posix_spawnp(&child, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else { throw error(failure) }
        return child
    }

    /// Types each reply behind its question, then waits for the end of the program.
    ///
    /// - Returns: false if a text did not come within a minute; true at the end of the program, also before its last turn.
    private mutating func play(_ turns: [Turn], _ terminal: Int32, _ child: pid_t) -> Bool {
        var seen = 0
        for turn in turns {
            let isThere = wait(terminal, child) { $0.dropFirst(seen).contains(turn.screen) }
            guard isThere else { return Self.hasEnded(child) }
            seen = screen.count
            let keys = Array(turn.keys.utf8)
            _ = write(terminal, keys, keys.count)
        }
        _ = wait(terminal, child) { _ in false }
        return Self.hasEnded(child)
    }

    /// Reads the screen until it is as wanted, the program has ended, or a minute is over.
    private mutating func wait(_ terminal: Int32, _ child: pid_t, for isWanted: (String) -> Bool) -> Bool {
        for _ in 0..<600 where !isWanted(screen) {
            let isOver = Self.hasEnded(child)
            read(terminal, wait: isOver ? 0 : 100)
            if isOver { break }
        }
        return isWanted(screen)
    }

    /// True for a program that has ended and is not yet waited for.
    private static func hasEnded(_ child: pid_t) -> Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == SIGCHLD
    }

    /// Takes what the terminal shows.
    ///
    /// - Parameter wait: milliseconds for the first byte.
    private mutating func read(_ terminal: Int32, wait: Int32) {
        var input = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        var wait = wait
        while poll(&input, 1, wait) > 0, input.revents & Int16(POLLIN) != 0 {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = Glibc.read(terminal, &buffer, buffer.count)
            guard count > 0 else { return }
            screen += String(decoding: buffer[..<count], as: UTF8.self).replacing("\r\n", with: "\n")
            wait = 0
        }
    }
}
