// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Primitives

/// Writes the results of a command.
public enum Output {
    /// Writes to standard output; a closed pipe ends the command, as SIGPIPE would.
    public static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes lines that end with a sentence: on a terminal a long one goes on below its begin, elsewhere it is one line.
    ///
    /// - Parameter columns: the columns in front of the sentences.
    public static func write(sentences text: String, behind columns: Int) {
        guard let width = Terminal.columns(of: STDOUT_FILENO) else { return write(text) }
        write(WrappedText.hanging(text, behind: columns, width: width))
    }

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

    /// Writes a fact a line: its name, then its value with control characters as escapes, at most 80 columns wide.
    public static func write(facts: [(name: String, value: String)]) {
        let width = (facts.map(\.name.count).max() ?? 0) + 2
        for (name, value) in facts {
            for (place, line) in WrappedText.lines(TerminalText.visible(value), width: TableForm.columns - width)
                .enumerated()
            {
                let begin = place == 0 ? name : ""
                write(begin + String(repeating: " ", count: width - begin.count) + line + "\n")
            }
        }
    }

    /// Writes rows in columns; an empty or missing cell is a dash.
    ///
    /// - Parameters:
    ///   - whole: titles of columns that are cut last in a narrow table.
    ///   - wideOnly: titles of columns that a narrow table leaves out.
    public static func write(
        table titles: [String], _ form: TableForm, whole: Set<String> = [], wideOnly: Set<String> = [],
        _ rows: [[String?]]
    ) {
        var table = TextTable(titles, form, whole: whole, wideOnly: wideOnly)
        for row in rows { table.add(row) }
        write(table.text)
    }
}
