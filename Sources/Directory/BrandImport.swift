// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
import GRDB

/// Brings brands in from a file: CSV with the header `number,brand_name,logo_url,call_reason,brand_id` in any order, or one
/// JSON object a line.
///
/// Every row is checked before any is written: a file with a bad row changes nothing, unless bad rows are to be skipped. It
/// is read as a stream into `EntryStaging`, on a connection of its own, and merged in one transaction.
package struct BrandImport: Sendable {
    /// How a file is to be taken.
    package struct Options: Hashable, Sendable {
        /// Leaves bad rows out instead of refusing the file.
        package var skipsInvalid = false
        /// Says what an import would do, and does nothing.
        package var isTrial = false
        /// Takes numbers that are not in the file out of use.
        package var replaces = false

        package init() {}
    }

    /// One row that cannot be used.
    package struct Problem: Error, Codable, Hashable, Sendable, CustomStringConvertible {
        /// Counted from 1.
        package let line: Int
        /// Which column it is about; nil when it is about the row.
        package let column: String?
        package let reason: String

        init(line: Int, column: String? = nil, reason: String) {
            self.line = line
            self.column = column
            self.reason = reason
        }

        package var description: String { "line \(line): \(reason)" }
    }

    /// What an import did.
    package struct Result: Codable, Hashable, Sendable {
        package var imported = 0
        package var unchanged = 0
        package var deactivated = 0
        /// Rows that cannot be used.
        package var rejected = 0
        /// The first thousand of them.
        package var problems: [Problem] = []
        /// False when nothing was written: for bad rows, or for a trial.
        package var isWritten = true

        package enum CodingKeys: String, CodingKey {
            case imported, unchanged, deactivated, rejected, problems
            case isWritten = "written"
        }

        fileprivate mutating func reject(_ problem: Problem) {
            rejected += 1
            if problems.count < 1000 { problems.append(problem) }
        }
    }

    private let database: DirectoryDatabase
    private let account: AccountID
    private let normalise: @Sendable (String) -> E164Number?

    /// Prepares imports; `normalise` reads a number as the operator writes it.
    package init(
        _ database: DirectoryDatabase, account: AccountID = .first,
        normalise: @escaping @Sendable (String) -> E164Number?
    ) {
        self.database = database
        self.account = account
        self.normalise = normalise
    }

    /// Imports a file's bytes.
    ///
    /// - Parameter now: seconds since 1970, asked for when the rows are written: who syncs while a long file is read, and
    ///   asks from then on, must not miss them.
    /// - Throws: a database error; nothing is written then.
    package func run(
        _ file: [UInt8], _ options: Options = Options(), now: @autoclosure () -> Int64
    ) throws -> Result {
        try run(ByteSource(file), options, now)
    }

    /// Imports a file; `now` as above.
    ///
    /// - Throws: `BrandImportError`, or a database error; nothing is written then.
    package func run(path: String, _ options: Options = Options(), now: @autoclosure () -> Int64) throws -> Result {
        guard let source = ByteSource(path: path) else { throw BrandImportError.unreadable(path) }
        return try run(source, options, now)
    }

    private func run(_ source: ByteSource, _ options: Options, _ now: () -> Int64) throws -> Result {
        // A bad row's number would be taken out of use as if nobody had wanted it.
        if options.replaces, options.skipsInvalid { throw BrandImportError.replacesAndSkips }
        var result = Result()
        var rows: ImportRows
        do {
            rows = try ImportRows(source)
        } catch {
            return Result(rejected: 1, problems: [error], isWritten: false)
        }
        return try database.connection().inDatabase { database in
            let staging = try EntryStaging(database)
            // Touches the temporary table alone, so it keeps no other writer waiting.
            try database.inTransaction(.deferred) {
                try gather(&rows, into: staging, &result)
                return .commit
            }
            if source.hasFailed { throw BrandImportError.brokenOff }
            guard result.rejected == 0 || options.skipsInvalid else {
                result.isWritten = false
                return result
            }
            if options.replaces, try staging.count() == 0 { throw BrandImportError.replacesWithNothing }
            try database.inTransaction(.immediate) {
                let merged = try staging.merge(into: account, replaces: options.replaces, now: now())
                (result.imported, result.unchanged) = (merged.changed, merged.unchanged)
                result.deactivated = merged.deactivated
                return options.isTrial ? .rollback : .commit
            }
            result.isWritten = !options.isTrial
            return result
        }
    }

    private func gather(_ rows: inout ImportRows, into staging: EntryStaging, _ result: inout Result) throws {
        while let row = rows.next() {
            do {
                let entry = try entry(row.content.get(), line: row.line)
                guard let earlier = try staging.add(entry, line: row.line) else { continue }
                result.reject(
                    Problem(
                        line: row.line, column: "number",
                        reason: "\(entry.number) stands on line \(earlier) already"))
            } catch let problem as Problem {
                result.reject(problem)
            }
        }
    }

    private func entry(_ values: [String: String], line: Int) throws(Problem) -> BrandEntries.Entry {
        guard let number = values["number"].flatMap(normalise) else {
            throw Problem(line: line, column: "number", reason: "no valid number")
        }
        guard let name = values["brand_name"] else {
            throw Problem(line: line, column: "brand_name", reason: "no brand_name")
        }
        for column in ImportRows.columns.dropFirst() {
            if let text = values[column], let problem = EntryRules.problem(column, text) {
                throw Problem(line: line, column: column, reason: problem)
            }
        }
        return BrandEntries.Entry(
            number: number, name: name,
            brandID: values["brand_id"] ?? EntryRules.identifier(of: name) ?? "brand-\(number.digits)",
            logoURL: values["logo_url"], callReason: values["call_reason"])
    }
}

/// Why a file was not taken at all.
package enum BrandImportError: OperatorMistake, Hashable {
    case unreadable(String)
    case brokenOff
    case replacesAndSkips
    case replacesWithNothing

    package var kind: OperatorMistakeKind { .invalid }

    package var description: String {
        switch self {
        case .unreadable(let path): "\(path) cannot be read"
        case .brokenOff: "the file could not be read to its end; nothing was imported"
        case .replacesAndSkips:
            "an import that replaces all cannot skip bad rows, because their numbers would be taken out of use"
        case .replacesWithNothing:
            "the file has no numbers, and replacing with it would take all out of use; nothing was changed"
        }
    }
}
