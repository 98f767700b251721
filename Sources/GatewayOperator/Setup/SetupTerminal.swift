// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Primitives

/// The terminal of a person who is asked.
///
/// Questions go to standard error, so that standard output has results alone. Ctrl-C ends the program, and nothing is
/// written before the last question. One thread at a time.
final class SetupTerminal {
    /// Bytes behind the last line that was read.
    private var waiting: [UInt8] = []

    /// True if somebody can read questions and give values.
    static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Writes lines for the person.
    func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }

    /// Asks for a line.
    ///
    /// - Parameter isList: true takes the further lines of a pasted list as part of the chosen.
    /// - Returns: the line without blanks around it.
    func line(_ prompt: String, isList: Bool = false) throws(SetupProblem) -> String {
        write(prompt)
        var text = try next(prompt)
        while isList, hasMore { text += "\n" + (try next(prompt)) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Asks for a line that is not shown.
    func hidden(_ prompt: String) throws(SetupProblem) -> String {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else { throw SetupProblem(SystemError.text(errno)) }
        var silent = usual
        // Ctrl-C arrives as a byte, because the program must not end before the echo is back.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG | ICANON)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &silent)
        write(prompt)
        let (text, end) = secret()
        tcsetattr(STDIN_FILENO, TCSADRAIN, &usual)
        write("\n")
        if end == Key.interrupt {
            // By the process: threads of the library Dispatch block signals. The program ends within the second.
            kill(getpid(), SIGINT)
            sleep(1)
        }
        guard end == Key.line else { throw Self.ended(prompt) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Bytes of a terminal without line editing.
    private enum Key {
        static let interrupt: UInt8 = 3
        static let end: UInt8 = 4
        static let line: UInt8 = 10
        static let erase: Set<UInt8> = [8, 127]
    }

    /// Reads to the end of the line, and gives the byte that ended it; nil at the end of the input.
    private func secret() -> (text: String, end: UInt8?) {
        var text: [UInt8] = []
        while let byte = nextByte() {
            switch byte {
            case Key.interrupt, Key.end, Key.line: return (String(decoding: text, as: UTF8.self), byte)
            case _ where Key.erase.contains(byte): text = text.dropLast()
            default: text.append(byte)
            }
        }
        return ("", nil)
    }

    private static func ended(_ prompt: String) -> SetupProblem {
        let question = prompt.trimmingCharacters(in: .whitespacesAndNewlines)
        return SetupProblem("the input ended at the question \"\(question)\"; nothing was written", isEnd: true)
    }

    private func next(_ prompt: String) throws(SetupProblem) -> String {
        var line: [UInt8] = []
        while let byte = nextByte() {
            if byte == Key.line { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw Self.ended(prompt)
    }

    private func nextByte() -> UInt8? {
        if waiting.isEmpty {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var count = -1
            repeat { count = read(STDIN_FILENO, &buffer, buffer.count) } while count < 0 && errno == EINTR
            waiting = Array(buffer.prefix(max(0, count)))
        }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }

    /// True if more lines wait: those of a list that was pasted arrive together.
    private var hasMore: Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return !waiting.isEmpty || poll(&input, 1, 100) > 0 && input.revents & Int16(POLLIN) != 0
    }
}
