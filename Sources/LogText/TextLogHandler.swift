// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logging

/// Writes log lines for people: time, level, message, then the metadata in the order of their names and the label.
///
/// The journal has a time and a priority of its own: there the time is left out and the priority written as `<N>`, which the
/// journal takes off. Control characters are escaped, so nothing that is logged can end a line or steer a terminal. Safe from
/// any thread if `write` is.
package struct TextLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let isForJournal: Bool
    private let now: @Sendable () -> String
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - isForJournal: standard error is the journal's.
    ///   - now: the time as a line shows it.
    ///   - write: takes one line with its end, in one piece.
    package init(
        label: String, level: Logger.Level, isForJournal: Bool = JournalStream.isStandardError,
        now: @escaping @Sendable () -> String = { Date().formatted(.iso8601) },
        write: @escaping @Sendable (String) -> Void = {
            try? FileHandle.standardError.write(contentsOf: Data($0.utf8))
        }
    ) {
        self.label = label
        logLevel = level
        self.isForJournal = isForJournal
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
        var line = isForJournal ? JournalStream.prefix(event.level) : "\(now()) \(event.level.rawValue) "
        line += Self.visible(event.message.description)
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            line += " \(name)=\(Self.value(value.description))"
        }
        write(line + " [\(label)]\n")
    }

    /// In quotation marks where it would be read as two values otherwise.
    private static func value(_ text: String) -> String {
        let text = visible(text)
        guard text.isEmpty || text.contains(where: { " =\"".contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\\\"") + "\""
    }

    private static func visible(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { out, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                out += "\\u{\(String(scalar.value, radix: 16))}"
            default: out.unicodeScalars.append(scalar)
            }
        }
    }
}
