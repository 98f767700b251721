// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// Writes the results of a command.
public enum Output {
    /// Writes to standard output; a closed pipe ends the command, as SIGPIPE would.
    public static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes bytes unchanged.
    public static func write(_ bytes: [UInt8]) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            Foundation.exit(1)
        }
    }

    /// Whether standard output is a terminal that shows colours, and its user wants them (`NO_COLOR`).
    public static var takesColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Writes one value as a line of JSON, its keys in alphabetical order.
    public static func write(json value: some Encodable) throws { write(try text(value) + "\n") }

    /// The JSON of a value, its keys in alphabetical order.
    public static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Writes a warning as one line to standard error, so that programs can read standard output.
    public static func warn(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((TerminalText.visible(text) + "\n").utf8))
    }

    /// Writes rows in columns; an empty or missing cell is a dash.
    public static func write(table titles: [String], _ rows: [[String?]]) {
        var table = TextTable(titles)
        for row in rows { table.add(row) }
        write(table.text)
    }
}
