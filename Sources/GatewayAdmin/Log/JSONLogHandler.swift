// SPDX-License-Identifier: Apache-2.0

package import Foundation
import LogText
package import Logging

/// Writes each log line as one JSON object: `level`, `message`, `label`, `time`, and the metadata as strings.
///
/// JSON escapes control characters, so nothing that is logged can end a line or steer a terminal. Safe from any thread
/// if `write` is.
package struct JSONLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let prefixes: Bool
    private let now: @Sendable () -> Date
    private let write: @Sendable (Data) -> Void

    /// - Parameters:
    ///   - prefixes: the journal reads it, which takes the priority from in front of the line.
    ///   - write: takes one line with its end, in one piece.
    package init(
        label: String, level: Logger.Level, prefixes: Bool = false, now: @escaping @Sendable () -> Date = { Date() },
        write: @escaping @Sendable (Data) -> Void = { try? FileHandle.standardError.write(contentsOf: $0) }
    ) {
        self.label = label
        logLevel = level
        self.prefixes = prefixes
        self.now = now
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let given = event.metadata { all.merge(given) { $1 } }
        let line = Line(
            level: event.level.rawValue, message: event.message.description, label: label,
            time: now().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            metadata: all.isEmpty ? nil : all.mapValues(\.description))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var data = try? encoder.encode(line) else { return }
        data.append(UInt8(ascii: "\n"))
        write(prefixes ? Data(JournalStream.prefix(event.level).utf8) + data : data)
    }

    private struct Line: Encodable {
        let level: String
        let message: String
        let label: String
        let time: String
        let metadata: [String: String]?
    }
}
