// SPDX-License-Identifier: Apache-2.0

/// Reads comma-separated values (RFC 4180) row by row, each with the line it begins on.
///
/// Own code because the one maintained Swift reader gives no line numbers, without which an operator cannot mend a file of
/// a hundred thousand rows. A byte order mark, CRLF and empty lines are tolerated.
struct CommaSeparated: Sequence, IteratorProtocol {
    struct Row: Hashable {
        /// Counted from 1.
        let line: Int
        let fields: [String]
        /// What is wrong with the row; nil for nothing.
        let defect: Defect?
    }

    enum Defect: String, Hashable {
        case openQuote = "a quoted field is not closed"
        case textAfterQuote = "text follows a closing quote"
        case encoding = "the text is not UTF-8"
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var defect: Defect?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func next() -> Row? {
        while position < bytes.count {
            let start = line
            defect = nil
            let fields = row()
            if fields != [""] || defect != nil { return Row(line: start, fields: fields, defect: defect) }
        }
        return nil
    }

    private mutating func row() -> [String] {
        var fields: [String] = []
        while true {
            fields.append(position < bytes.count && bytes[position] == UInt8(ascii: "\"") ? quoted() : plain())
            guard position < bytes.count else { return fields }
            let separator = bytes[position]
            position += 1
            if separator != UInt8(ascii: ",") {
                if separator == 13, position < bytes.count, bytes[position] == 10 { position += 1 }
                line += 1
                return fields
            }
        }
    }

    /// Up to the next comma or line end.
    private mutating func plain() -> String {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ","), bytes[position] != 10, bytes[position] != 13
        {
            position += 1
        }
        return text(bytes[start..<position])
    }

    /// From quote to quote; a doubled quote stands for one.
    private mutating func quoted() -> String {
        var field: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == 10 { line += 1 }
            guard byte == UInt8(ascii: "\"") else {
                field.append(byte)
                continue
            }
            if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
                field.append(byte)
                position += 1
                continue
            }
            if !plain().allSatisfy(\.isWhitespace) { defect = defect ?? .textAfterQuote }
            return text(field)
        }
        defect = defect ?? .openQuote
        return text(field)
    }

    private mutating func text(_ bytes: some Sequence<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        defect = defect ?? .encoding
        return ""
    }
}
