// SPDX-License-Identifier: Apache-2.0

/// A list file of a route: one entry a line, as plain text or as the column of a CSV file.
///
/// Empty lines and text behind `#` are skipped. Columns end with a comma, a semicolon or a tab; a value may be quoted. A
/// first line without a digit names the columns: the entries are in `number`, `did`, `prefix` or `called`, else in the
/// first column. Reads a million lines in a fraction of a second.
struct RouteList {
    private let bytes: UnsafeRawBufferPointer
    private var column = 0

    /// - Parameter bytes: the file; valid while the list is read.
    init(_ bytes: UnsafeRawBufferPointer) {
        // A byte order mark, as Excel writes it.
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? .init(rebasing: bytes[3...]) : bytes
    }

    /// Calls `entry` with each entry and its line, which counts from 1.
    mutating func read(_ entry: (Slice<UnsafeRawBufferPointer>, Int) -> Void) {
        var (start, line, hasBegun) = (0, 1, false)
        while start < bytes.count {
            let end = Self.first(10, in: bytes, from: start)
            let content = Self.trimmed(bytes[start..<Self.first(UInt8(ascii: "#"), in: bytes, from: start, to: end)])
            if !content.isEmpty {
                if hasBegun || !takesNames(of: content) {
                    let value = field(column, of: content)
                    entry(value, line)
                }
                hasBegun = true
            }
            start = end + 1
            line += 1
        }
    }

    /// Takes the column of the entries from a line of names; false for a line with a digit.
    private mutating func takesNames(of line: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard !line.contains(where: { (48...57).contains($0) }) else { return false }
        let names = ["number", "did", "prefix", "called"]
        for position in 0..<64 {
            let name = String(decoding: field(position, of: line), as: UTF8.self).lowercased()
            if names.contains(name) {
                column = position
                break
            }
        }
        return true
    }

    /// The value of a column without its quotes; empty where the line has fewer columns.
    private func field(_ column: Int, of line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var (start, position, isQuoted, index) = (line.startIndex, 0, false, line.startIndex)
        while index < line.endIndex {
            let byte = line[index]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") || byte == 9 {
                if position == column { return Self.unquoted(Self.trimmed(line[start..<index])) }
                position += 1
                start = index + 1
            }
            index += 1
        }
        return position == column
            ? Self.unquoted(Self.trimmed(line[start..<line.endIndex])) : line[line.endIndex..<line.endIndex]
    }

    private static func unquoted(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        guard text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return text }
        return trimmed(text.dropFirst().dropLast())
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var (start, end) = (text.startIndex, text.endIndex)
        while start < end, text[start] <= 32 { start += 1 }
        while end > start, text[end - 1] <= 32 { end -= 1 }
        return text[start..<end]
    }

    private static func first(
        _ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int, to limit: Int? = nil
    ) -> Int {
        let limit = limit ?? bytes.count
        var index = start
        while index < limit, bytes[index] != byte { index += 1 }
        return index
    }
}
