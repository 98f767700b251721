// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Primitives

/// Reads the rows of a brand file, CSV or JSON lines, as texts by column.
///
/// JSON is one object per line and not one array. Errors can name a line, a reader holds one line in memory, and a
/// truncated file still has whole rows.
struct ImportRows {
    /// One row, or its problem.
    typealias Row = (line: Int, content: Result<[String: String], BrandImport.Problem>)

    static let columns = ["number", "brand_name", "logo_url", "call_reason", "brand_id"]

    private enum Reader {
        case csv(CSVReader, names: [String])
        case json(JSONLines)
    }

    private var reader: Reader

    /// Detects the format by the first byte that is not blank.
    ///
    /// - Throws: a problem of the file as a whole.
    init(_ source: ByteSource) throws(BrandImport.Problem) {
        var source = source
        switch source.firstVisibleByte() {
        case nil: throw BrandImport.Problem(line: 1, reason: "the file is empty")
        case UInt8(ascii: "{"): reader = .json(JSONLines(source))
        case UInt8(ascii: "["):
            throw BrandImport.Problem(
                line: 1, reason: "this is a JSON array; write one object a line (jq -c '.[]' does it)")
        default:
            var rows = CSVReader(source)
            guard let header = rows.next() else { throw BrandImport.Problem(line: 1, reason: "the file is empty") }
            if let defect = header.defect { throw BrandImport.Problem(line: header.line, reason: defect.rawValue) }
            let names = header.fields.map { $0.lowercased().filter { !$0.isWhitespace } }
            if let problem = Self.problem(ofHeader: names, line: header.line) { throw problem }
            reader = .csv(rows, names: names)
        }
    }

    mutating func next() -> Row? {
        switch reader {
        case .csv(var rows, let names):
            guard let row = rows.next() else { return nil }
            reader = .csv(rows, names: names)
            return (row.line, Self.values(row, names))
        case .json(var lines):
            guard let line = lines.next() else { return nil }
            reader = .json(lines)
            return line
        }
    }

    private static func problem(ofHeader names: [String], line: Int) -> BrandImport.Problem? {
        for required in ["number", "brand_name"] where !names.contains(required) {
            return BrandImport.Problem(line: line, column: required, reason: "the header has no column \(required)")
        }
        if let unknown = names.first(where: { !columns.contains($0) }) {
            let shown = unknown.prefix(40).filter { $0.isASCII && !$0.isNewline }
            return BrandImport.Problem(
                line: line, reason: "unknown column \"\(shown)\"; known are \(columns.joined(separator: ", "))")
        }
        let isTwice = Set(names).count < names.count
        return isTwice ? BrandImport.Problem(line: line, reason: "the header has a column twice") : nil
    }

    private static func values(
        _ row: CSVReader.Row, _ names: [String]
    ) -> Result<[String: String], BrandImport.Problem> {
        if let defect = row.defect {
            let column = row.fields.count <= names.count ? names[max(row.fields.count - 1, 0)] : nil
            return .failure(BrandImport.Problem(line: row.line, column: column, reason: defect.rawValue))
        }
        guard row.fields.count <= names.count else {
            return .failure(BrandImport.Problem(line: row.line, reason: "more fields than the header has columns"))
        }
        return .success(
            zip(names, row.fields).reduce(into: [:]) { values, field in
                let text = CellText.read(trimmed(field.1))
                if !text.isEmpty { values[field.0] = text }
            })
    }

    /// The text without white space at both ends.
    static func trimmed(_ text: String) -> String {
        // Nearly every cell begins and ends with a visible ASCII character, and is a copy of itself.
        func isVisible(_ byte: UInt8?) -> Bool { byte.map { (0x21...0x7E).contains($0) } ?? false }
        if isVisible(text.utf8.first), isVisible(text.utf8.last) { return text }
        return String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}

/// Reads objects of the contract's shape, as in the `branding` array of a sync response, one per line.
struct JSONLines {
    private static let lineLimit = 65_536
    private static let fields = [
        "phone_number_e164": "number", "brand_name": "brand_name", "logo_url": "logo_url",
        "call_reason": "call_reason", "brand_id": "brand_id",
    ]

    private var source: ByteSource
    private var line = 0

    init(_ source: ByteSource) {
        self.source = source
        self.source.skipByteOrderMark()
    }

    mutating func next() -> ImportRows.Row? {
        while source.peek() != nil {
            let (bytes, isCut) = source.bytes(until: { $0 == 10 }, limit: Self.lineLimit)
            _ = source.next()
            line += 1
            if isCut { return (line, .failure(problem("the line has more than 65536 bytes"))) }
            if bytes.allSatisfy({ $0 == 32 || $0 == 13 || $0 == 9 }) { continue }
            return (line, values(bytes))
        }
        return nil
    }

    private func values(_ bytes: [UInt8]) -> Result<[String: String], BrandImport.Problem> {
        guard case .object(let object) = try? JSONValue(parsing: bytes) else {
            return .failure(problem("not a JSON object"))
        }
        var values: [String: String] = [:]
        for (key, value) in object {
            switch (Self.fields[key], value) {
            case (let column?, .string(let text)):
                let text = ImportRows.trimmed(text)
                if !text.isEmpty { values[column] = text }
            case (_?, .null): continue
            case (nil, _) where key == "updated_at": continue
            case (nil, .bool(true)) where key == "is_active": continue
            case (_?, _): return .failure(problem("\(key) is not a text", column: key))
            case (nil, _): return .failure(problem(Self.unknown(key), column: nil))
            }
        }
        return .success(values)
    }

    private static func unknown(_ key: String) -> String {
        if key == "is_active" { return "is_active is not true; remove the number instead" }
        let shown = key.prefix(40).filter { $0.isASCII && !$0.isNewline }
        return "unknown field \"\(shown)\"; known are \(fields.keys.sorted().joined(separator: ", "))"
    }

    private func problem(_ reason: String, column: String? = nil) -> BrandImport.Problem {
        BrandImport.Problem(line: line, column: column, reason: reason)
    }
}
