// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// Log lines in memory, each as `level message [key: value]`.
package final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    /// Holds no lines.
    package init() {}

    /// All lines, oldest first.
    package var all: [String] { lines.withLock { $0 } }
    /// All lines as one text.
    package var text: String { all.joined(separator: "\n") }

    /// A logger of every level that writes here.
    package var logger: Logger {
        Logger(label: "test") { _ in Handler(lines: self) }
    }

    /// Removes and returns all lines.
    package func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(lines: LogLines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            let end = fields.isEmpty ? "" : " [\(fields.joined(separator: ", "))]"
            lines.lines.withLock { $0.append("\(event.level) \(event.message)\(end)") }
        }
    }
}
