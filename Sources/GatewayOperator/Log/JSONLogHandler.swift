// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Logging

/// Writes each log line as one JSON object: `level`, `message`, `label`, `time`, and the metadata as strings.
///
/// JSON escapes control characters, so no logged text can end a line or control a terminal. Safe from any thread if
/// `write` is.
struct JSONLogHandler: LineLogHandler {
    var context: LogLineContext
    private let prefixes: Bool
    private let now: @Sendable () -> Date
    private let write: @Sendable (Data) -> Void

    /// - Parameters:
    ///   - prefixes: true if the journal reads the lines. It takes the priority from the front of each line.
    ///   - write: takes one line with its end, in one piece.
    init(
        label: String, level: Logger.Level, prefixes: Bool = false, now: @escaping @Sendable () -> Date = { Date() },
        write: @escaping @Sendable (Data) -> Void = { try? FileHandle.standardError.write(contentsOf: $0) }
    ) {
        context = LogLineContext(label: label, level: level)
        self.prefixes = prefixes
        self.now = now
        self.write = write
    }

    func write(line: LogLine) {
        let object = Object(
            level: line.level.rawValue, message: line.message, label: line.label,
            time: now().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            metadata: line.metadata.isEmpty ? nil : line.metadata)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var data = try? encoder.encode(object) else { return }
        data.append(UInt8(ascii: "\n"))
        write(prefixes ? Data(JournalStream.prefix(line.level).utf8) + data : data)
    }

    private struct Object: Encodable {
        let level: String
        let message: String
        let label: String
        let time: String
        let metadata: [String: String]?
    }
}
