// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Logging
import Primitives

/// Writes log lines for people: time, level, message, metadata in the order of their names, label.
///
/// The journal has a time and a priority of its own. A line for the journal has no time, and its priority as `<N>` in front,
/// which the journal removes. Control characters are escaped, so no logged text can end a line or control a terminal. Safe
/// from any thread if `write` is.
public struct TextLogHandler: LineLogHandler {
    public var context: LogLineContext
    private let isForJournal: Bool
    private let now: @Sendable () -> String
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - level: the least level, read for each line.
    ///   - isForJournal: true if standard error leads to the journal.
    ///   - now: the time as a line shows it.
    ///   - write: takes one line with its end, in one piece.
    public init(
        label: String, level: @escaping @autoclosure @Sendable () -> Logger.Level,
        isForJournal: Bool = JournalStream.isStandardError,
        now: @escaping @Sendable () -> String = { Date().formatted(.iso8601) },
        write: @escaping @Sendable (String) -> Void = {
            try? FileHandle.standardError.write(contentsOf: Data($0.utf8))
        }
    ) {
        context = LogLineContext(label: label, level: level())
        self.isForJournal = isForJournal
        self.now = now
        self.write = write
    }

    public func write(line: LogLine) {
        var text = isForJournal ? JournalStream.prefix(line.level) : "\(now()) \(line.level.rawValue) "
        text += TerminalText.visible(line.message)
        for (name, value) in line.metadata.sorted(by: { $0.key < $1.key }) {
            text += " \(name)=\(Self.value(value))"
        }
        write(text + " [\(line.label)]\n")
    }

    /// Puts a value in quotation marks if it would read as two values otherwise.
    ///
    /// By code points: a quotation mark with a combining mark on it is another `Character`, and still ends a value for a reader.
    private static func value(_ text: String) -> String {
        let scalars = TerminalText.visible(text).unicodeScalars
        guard scalars.isEmpty || scalars.contains(where: { " =\"".unicodeScalars.contains($0) }) else {
            return String(scalars)
        }
        return "\"" + String(scalars.replacing("\"".unicodeScalars, with: "\\\"".unicodeScalars)) + "\""
    }
}
