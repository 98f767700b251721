// SPDX-License-Identifier: Apache-2.0

/// Reads comma-separated values (RFC 4180) row by row, with the line number of each row.
///
/// Spreadsheets of countries with a decimal comma write semicolons, and some programs write tabs. The first line
/// decides: a semicolon or a tab separates if it has no comma. A line such as `sep=;`, as Excel writes it, names the
/// separator.
///
/// The one maintained Swift reader gives no line numbers, and an operator needs them to correct a file of a hundred
/// thousand rows. A byte order mark, CRLF and empty lines are tolerated. One row is in memory at a time, and at most
/// `fieldLimit` bytes of a field.
struct CSVReader: Sequence, IteratorProtocol {
    struct Row: Hashable {
        /// Counted from 1.
        let line: Int
        let fields: [String]
        /// The first defect of the row; nil for a valid row.
        let defect: Defect?
    }

    enum Defect: String, Hashable {
        case openQuote = "a quoted field is not closed"
        case textAfterQuote = "text follows a closing quote"
        case encoding = "the text is not UTF-8"
        case tooLong = "a field has more than 65536 bytes; is a quote missing?"
        case tooMany = "the row has more than 64 fields"
    }

    static let fieldLimit = 65_536
    private static let columnLimit = 64

    private var source: ByteSource
    private let separator: UInt8
    private var line = 1
    private var defect: Defect?

    init(_ source: ByteSource) {
        self.source = source
        self.source.skipByteOrderMark()
        let first = self.source.lineAhead(limit: Self.fieldLimit)
        let isFirst = self.source.peek() == first.first
        if isFirst, first.count == 5, first.starts(with: Array("sep=".utf8)), let named = first.last {
            separator = named
            _ = self.source.bytes(until: { $0 == 10 || $0 == 13 }, limit: 5)
            if self.source.next() == 13, self.source.peek() == 10 { _ = self.source.next() }
            line = 2
        } else {
            separator = Self.separator(of: first)
        }
    }

    private static func separator(of header: ArraySlice<UInt8>) -> UInt8 {
        var isQuoted = false
        var found: Set<UInt8> = []
        for byte in header {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted { found.insert(byte) }
        }
        let known: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), 9]
        return known.first { found.contains($0) } ?? known[0]
    }

    mutating func next() -> Row? {
        while source.peek() != nil {
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
            let field = source.peek() == UInt8(ascii: "\"") ? quoted() : plain()
            if fields.count < Self.columnLimit { fields.append(field) } else { report(.tooMany) }
            guard let end = source.next() else { return fields }
            if end != separator {
                if end == 13, source.peek() == 10 { _ = source.next() }
                line += 1
                return fields
            }
        }
    }

    /// Reads up to the next separator or line end.
    private mutating func plain() -> String {
        let (bytes, isCut) = source.bytes(
            until: { [separator] in $0 == separator || $0 == 10 || $0 == 13 }, limit: Self.fieldLimit)
        if isCut { report(.tooLong) }
        return text(bytes)
    }

    /// Reads from quote to quote; a doubled quote is one quote.
    private mutating func quoted() -> String {
        var field: [UInt8] = []
        _ = source.next()
        while true {
            let (bytes, isCut) = source.bytes(until: { $0 == UInt8(ascii: "\"") || $0 == 10 }, limit: Self.fieldLimit)
            field += bytes.prefix(Swift.max(Self.fieldLimit - field.count, 0))
            if isCut || field.count >= Self.fieldLimit { report(.tooLong) }
            // A missing quote would consume the rest of the file, so the next line is read as a new row.
            if defect == .tooLong, source.peek() == 10 { return "" }
            switch source.next() {
            case 10:
                line += 1
                field.append(10)
            case nil:
                report(.openQuote)
                return text(field)
            default:
                if source.peek() != UInt8(ascii: "\"") {
                    if !plain().allSatisfy(\.isWhitespace) { report(.textAfterQuote) }
                    return text(field)
                }
                _ = source.next()
                field.append(UInt8(ascii: "\""))
            }
        }
    }

    private mutating func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        report(.encoding)
        return ""
    }

    /// Keeps the first defect of a row.
    private mutating func report(_ found: Defect) { defect = defect ?? found }
}
