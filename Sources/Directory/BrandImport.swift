// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
import Foundation

/// Brings brands in from a CSV file with the header `number,brand_name,logo_url,call_reason,brand_id` in any order.
///
/// Every row is checked before any is written: a file with a bad row changes nothing, unless bad rows are to be skipped.
package struct BrandImport: Sendable {
    /// One row that cannot be used.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Counted from 1.
        package let line: Int
        package let reason: String

        package var description: String { "line \(line): \(reason)" }
    }

    /// What an import did.
    package struct Result: Hashable, Sendable {
        package var imported = 0
        package var unchanged = 0
        package var problems: [Problem] = []
        /// False when bad rows kept the whole file out.
        package var isWritten = true
    }

    private static let columns = ["number", "brand_name", "logo_url", "call_reason", "brand_id"]

    private let entries: BrandEntries
    private let normalise: @Sendable (String) -> E164Number?

    /// Prepares imports; `normalise` reads a number as the operator writes it.
    package init(_ database: DirectoryDatabase, normalise: @escaping @Sendable (String) -> E164Number?) {
        entries = BrandEntries(database)
        self.normalise = normalise
    }

    /// Imports a file's bytes.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: a database error; nothing is written then.
    package func run(_ file: [UInt8], skipsInvalid: Bool, now: Int64) throws -> Result {
        var result = Result()
        var rows = CommaSeparated(file)
        guard let header = rows.next() else {
            return Result(problems: [Problem(line: 1, reason: "the file is empty")], isWritten: false)
        }
        if let defect = header.defect {
            return Result(problems: [Problem(line: header.line, reason: defect.rawValue)], isWritten: false)
        }
        let names = header.fields.map { $0.lowercased().filter { !$0.isWhitespace } }
        if let problem = Self.problem(ofHeader: names, line: header.line) {
            return Result(problems: [problem], isWritten: false)
        }
        var found: [BrandEntries.Entry] = []
        var lines: [E164Number: Int] = [:]
        while let row = rows.next() {
            switch entry(row, names) {
            case .success(let entry):
                if let earlier = lines[entry.number] {
                    result.problems.append(
                        Problem(line: row.line, reason: "\(entry.number) stands on line \(earlier) already"))
                } else {
                    lines[entry.number] = row.line
                    found.append(entry)
                }
            case .failure(let problem): result.problems.append(problem)
            }
        }
        guard result.problems.isEmpty || skipsInvalid else {
            result.isWritten = false
            return result
        }
        let put = try entries.put(found, now: now)
        (result.imported, result.unchanged) = (put.changed, put.unchanged)
        return result
    }

    private static func problem(ofHeader names: [String], line: Int) -> Problem? {
        for required in ["number", "brand_name"] where !names.contains(required) {
            return Problem(line: line, reason: "the header has no column \(required)")
        }
        if let unknown = names.first(where: { !columns.contains($0) }) {
            let shown = unknown.prefix(40).filter { $0.isASCII && !$0.isNewline }
            return Problem(
                line: line, reason: "unknown column \"\(shown)\"; known are \(columns.joined(separator: ", "))")
        }
        return Set(names).count < names.count ? Problem(line: line, reason: "a column stands twice in the header") : nil
    }

    private func entry(
        _ row: CommaSeparated.Row, _ names: [String]
    ) -> Swift.Result<BrandEntries.Entry, Problem> {
        func problem(_ reason: String) -> Swift.Result<BrandEntries.Entry, Problem> {
            .failure(Problem(line: row.line, reason: reason))
        }
        if let defect = row.defect { return problem(defect.rawValue) }
        guard row.fields.count <= names.count else { return problem("more fields than the header has columns") }
        var values: [String: String] = [:]
        for (name, field) in zip(names, row.fields) {
            let text = String(field.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
            if !text.isEmpty { values[name] = text }
        }
        guard let number = values["number"].flatMap(normalise) else { return problem("no valid number") }
        guard let name = values["brand_name"] else { return problem("no brand_name") }
        if let long = Self.tooLong(values) { return problem(long) }
        if let logo = values["logo_url"], !Self.isLogo(logo) {
            return problem("logo_url is neither an http:// or https:// URL nor the plain name of a logo file")
        }
        if values.values.contains(where: { $0.unicodeScalars.contains { $0.value < 32 || $0.value == 127 } }) {
            return problem("a field has control characters")
        }
        return .success(
            BrandEntries.Entry(
                number: number, name: name, brandID: values["brand_id"] ?? Self.identifier(of: name, number),
                logoURL: values["logo_url"], callReason: values["call_reason"]))
    }

    private static func tooLong(_ values: [String: String]) -> String? {
        let limits = [
            ("brand_name", FieldLimit.brandName), ("logo_url", FieldLimit.logoURL),
            ("call_reason", FieldLimit.callReason),
            ("brand_id", 64),
        ]
        for (name, limit) in limits where values[name]?.count ?? 0 > limit {
            return "\(name) has more than \(limit) characters"
        }
        return nil
    }

    /// A URL that phones can fetch, or a file that `LogoRoute` serves.
    private static func isLogo(_ text: String) -> Bool {
        if LogoRoute.isPlain(text) { return true }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), url.host()?.isEmpty == false else {
            return false
        }
        return ["http", "https"].contains(scheme) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3E }
    }

    /// A brand without an identifier is named by its letters and digits: `Acme Bank` is `acme-bank`.
    private static func identifier(of name: String, _ number: E164Number) -> String {
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber }
        return words.isEmpty ? "brand-\(number.digits)" : String(words.joined(separator: "-").prefix(64))
    }
}

extension BrandImport.Problem: Error {}
