// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
package import Host

/// Imports brands from a file: CSV with the header `number,brand_name,logo_url,call_reason,brand_id` in any order, or
/// one JSON object per line.
///
/// Every row is checked before any row is written. A file with an invalid row changes nothing, unless `skipsInvalid` is
/// set. The file is streamed into `EntryStaging` on a connection of its own. PostgreSQL merges it in one transaction,
/// beside which other accounts and all events are written. SQLite has one writer, so `SteppedMerge` makes many short
/// transactions. An import that has begun to merge is finished even after a kill (`ImportJournal`).
package struct BrandImport: Sendable {
    /// The options of an import.
    package struct Options: Hashable, Sendable {
        /// Skips invalid rows instead of rejecting the file.
        package var skipsInvalid = false
        /// Reports the result of the import without writing.
        package var isTrial = false
        /// Deactivates numbers that are missing from the file.
        package var replaces = false
        /// Computes the plan of the changes; takes time and memory for the comparison.
        package var plans = false
        /// Refuses the import unless its plan has this digest; nil accepts any plan.
        package var expectedPlan: String?

        package init() {}
    }

    /// One invalid row.
    package struct Problem: Error, Codable, Hashable, Sendable, CustomStringConvertible {
        /// Counted from 1.
        package let line: Int
        /// The column at fault; nil for the whole row.
        package var column: String?
        package let reason: String

        package var description: String { "line \(line): \(reason)" }
    }

    /// How far an import is.
    package enum Progress: Hashable, Sendable {
        /// Bytes of the file that are read, and all of them; 0 if their number is not known.
        case reading(Int, of: Int)
        /// The rows are checked and being merged.
        case merging
    }

    /// The result of an import.
    package struct Result: Codable, Hashable, Sendable {
        package var imported = 0
        package var unchanged = 0
        package var deactivated = 0
        /// Invalid rows.
        package var rejected = 0
        /// The first thousand invalid rows.
        package var problems: [Problem] = []
        /// The first hundred warnings about rows that are imported, such as missing logos.
        package var warnings: [Problem] = []
        /// False when nothing was written, because of invalid rows or for a trial.
        package var isWritten = true
        /// The changes of a valid file; nil unless the options ask for them.
        package var plan: ImportPlan?

        package enum CodingKeys: String, CodingKey {
            case imported, unchanged, deactivated, rejected, problems, warnings
            case isWritten = "written"
        }

        fileprivate mutating func reject(_ problem: Problem) {
            rejected += 1
            if problems.count < 1000 { problems.append(problem) }
        }

        fileprivate mutating func take(_ merged: EntryStaging.Merged) {
            (imported, unchanged, deactivated) = (merged.changed, merged.unchanged, merged.deactivated)
        }

        /// True when all rows of the file are invalid.
        package var isEmpty: Bool { rejected > 0 && imported + unchanged == 0 }
    }

    private let database: DirectoryDatabase
    private let account: AccountID
    private let region: String?
    private let logos: LogoCheck
    private let turn: WorkTurn
    private let onProgress: @Sendable (Progress) throws -> Void
    private let normalise: @Sendable (String) -> E164Number?

    /// Prepares imports.
    ///
    /// - Parameters:
    ///   - region: region of numbers in national format; nil for none.
    ///   - logos: location of the logo files that entries name.
    ///   - turn: the import's turn among other long works; it passes it on between two batches.
    ///   - onProgress: called after every 1,000 rows, on the thread of the import; its error ends the import without a change.
    ///   - normalise: parses a number in the operator's notation.
    package init(
        _ database: DirectoryDatabase, account: AccountID = .first, region: String? = nil,
        logos: LogoCheck.Place = .asServed, turn: WorkTurn = .alone,
        onProgress: @escaping @Sendable (Progress) throws -> Void = { _ in },
        normalise: @escaping @Sendable (String) -> E164Number?
    ) {
        self.database = database
        self.account = account
        self.region = region
        self.logos = LogoCheck(database, in: logos)
        self.turn = turn
        self.onProgress = onProgress
        self.normalise = normalise
    }

    /// Imports a file's bytes.
    ///
    /// - Parameter now: seconds since 1970, evaluated when the rows are written. A client that syncs while a long file
    ///   is read must still receive them later.
    /// - Throws: a database error, without any change.
    package func run(
        _ file: [UInt8], _ options: Options = Options(), now: @autoclosure () -> Int64
    ) throws -> Result {
        try run(ByteSource(file), options, now)
    }

    /// Imports a file; `now` as above.
    ///
    /// - Throws: `BrandImportError`, or a database error, without any change.
    package func run(path: String, _ options: Options = Options(), now: @autoclosure () -> Int64) throws -> Result {
        let source: ByteSource
        do {
            source = try ByteSource(path: path)
        } catch {
            switch error {
            case .folder: throw BrandImportError.folder(path)
            case .refused(let reason): throw BrandImportError.unreadable(path, reason)
            }
        }
        return try run(source, options, now)
    }

    private func run(_ source: ByteSource, _ options: Options, _ now: () -> Int64) throws -> Result {
        // The number of a skipped row would be deactivated, although the file lists it.
        if options.replaces, options.skipsInvalid { throw BrandImportError.replacesAndSkips }
        var result = Result()
        var rows: ImportRows
        do {
            rows = try ImportRows(source)
        } catch {
            return Result(rejected: 1, problems: [error], isWritten: false)
        }
        guard database.pool.dialect == .sqlite, !options.isTrial else {
            return try database.pool.session { session in
                let staging = try EntryStaging(session.connection)
                guard try isReady(&rows, of: source, options, staging, session, &result) else { return result }
                try mergeAtOnce(staging, options, now, session, &result)
                return result
            }
        }
        let journal = try ImportJournal(in: database.folder)
        // Rows whose merge has begun are kept, so that the merge can go on.
        defer { journal.removeUnlessBegun() }
        return try database.pool.session { session in
            let staging = try EntryStaging(session.connection, file: journal.rows)
            guard try isReady(&rows, of: source, options, staging, session, &result) else { return result }
            try mergeInSteps(staging, journal, options, now, session, &result)
            return result
        }
    }

    /// Reads the file into a staging; false if invalid rows refuse it.
    private func isReady(
        _ rows: inout ImportRows, of source: ByteSource, _ options: Options, _ staging: EntryStaging,
        _ session: any SQLSession, _ result: inout Result
    ) throws -> Bool {
        // Writes the staging only, so it blocks no other writer.
        try session.transaction(writes: false) {
            try gather(&rows, of: source, into: staging, &result)
            return true
        }
        if source.hasFailed { throw BrandImportError.brokenOff }
        result.warnings = try warnings(staging, session.connection)
        guard result.rejected == 0 || options.skipsInvalid else {
            result.isWritten = false
            return false
        }
        try onProgress(.merging)
        if options.replaces, try staging.count() == 0 { throw BrandImportError.replacesWithNothing }
        return true
    }

    /// Merges in one transaction, or computes the result of a trial.
    private func mergeAtOnce(
        _ staging: EntryStaging, _ options: Options, _ now: () -> Int64, _ session: any SQLSession,
        _ result: inout Result
    ) throws {
        let database = session.connection
        try session.transaction(writes: !options.isTrial) {
            if !options.isTrial { _ = try ChangeCounter.lock(account, database) }
            result.plan = try plan(options, database)
            result.take(
                try options.isTrial
                    ? staging.trial(into: account, replaces: options.replaces)
                    : staging.merge(into: account, replaces: options.replaces, now: now()))
            return !options.isTrial
        }
        result.isWritten = !options.isTrial
    }

    /// Merges in short transactions, after every other import of the account.
    private func mergeInSteps(
        _ staging: EntryStaging, _ journal: ImportJournal, _ options: Options, _ now: () -> Int64,
        _ session: any SQLSession, _ result: inout Result
    ) throws {
        let connection = session.connection
        try withoutActuallyEscaping(now) { now in
            let merge = SteppedMerge(
                session: session, staging: staging, account: account, replaces: options.replaces, now: now,
                rest: { try turn.rest(milliseconds: MergeLock.rest) })
            let lock = try MergeLock.take(account, database, turn, now: now)
            defer { lock.release() }
            try merge.prepare()
            try session.transaction(writes: false) {
                result.plan = try plan(options, connection)
                return true
            }
            let begun = ImportJournal.Merge(account: account.row, replaces: options.replaces)
            try session.transaction(writes: true) {
                // The plan took its time, and holds if nothing has changed meanwhile.
                if options.expectedPlan != nil, let plan = result.plan,
                    try plan.basis != ImportPlan.Basis(account, connection)
                {
                    throw BrandImportError.moved
                }
                try journal.begin(begun, in: database.folder)
                return true
            }
            do {
                result.take(try merge.run())
            } catch {
                let isStopped = error as? WorkerThreads.Refusal == .stopped
                throw BrandImportError.unfinished(
                    isStopped ? "the program ends" : database.trouble(of: error) ?? "\(error)")
            }
        }
        journal.remove()
    }

    /// The plan of an import that asks for it.
    ///
    /// - Throws: `BrandImportError.moved` for another plan than the expected one.
    private func plan(_ options: Options, _ database: any SQLConnection) throws -> ImportPlan? {
        guard options.plans || options.expectedPlan != nil else { return nil }
        let plan = try ImportPlan(account, replaces: options.replaces, database) { try turn.pause() }
        if let expected = options.expectedPlan, expected != plan.digest { throw BrandImportError.moved }
        return plan
    }

    /// One warning for each missing logo.
    private func warnings(_ staging: EntryStaging, _ database: any SQLConnection) throws -> [Problem] {
        let named = try staging.logos()
        if named.isEmpty { return [] }
        let inventory = try LogoCheck.Inventory(logos, database)
        var warnings: [Problem] = []
        for logo in named {
            guard let reason = inventory.problem(of: logo.name) else { continue }
            let rows = logo.entries == 1 ? "" : " (\(logo.entries) rows name it)"
            warnings.append(Problem(line: logo.line, column: "logo_url", reason: reason + rows))
            if warnings.count == 100 { break }
        }
        return warnings
    }

    private func gather(
        _ rows: inout ImportRows, of source: ByteSource, into staging: EntryStaging, _ result: inout Result
    ) throws {
        var count = 0
        while let row = rows.next() {
            count += 1
            if count % 1000 == 0 {
                try onProgress(.reading(source.progress.read, of: source.progress.size))
                try turn.pause()
            }
            do {
                let entry = try entry(row.content.get(), line: row.line)
                reject(try staging.add(entry, line: row.line), &result)
            } catch let problem as Problem {
                result.reject(problem)
            }
        }
        reject(try staging.flush(), &result)
        // Duplicates are found some rows later.
        result.problems.sort { $0.line < $1.line }
    }

    private func reject(_ duplicates: [EntryStaging.Duplicate], _ result: inout Result) {
        for found in duplicates {
            result.reject(
                Problem(
                    line: found.line, column: "number", reason: "\(found.number) is already on line \(found.earlier)"))
        }
    }

    private func entry(_ values: [String: String], line: Int) throws(Problem) -> BrandEntries.Entry {
        guard let text = values["number"] else { throw Problem(line: line, column: "number", reason: "no number") }
        let cell = NumberCell(text)
        guard let number = cell.number(normalise) else {
            throw Problem(line: line, column: "number", reason: cell.problem(region: region))
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

/// Refusals of a whole file.
package enum BrandImportError: OperatorError, Hashable {
    case folder(String)
    case unreadable(String, String)
    case brokenOff
    case replacesAndSkips
    case replacesWithNothing
    /// The import would change something else than its preview.
    case moved
    /// The merge has begun and is not complete; the text has the reason.
    case unfinished(String)

    package var kind: OperatorMistakeKind {
        switch self {
        case .moved: .conflict
        case .unfinished: .unavailable
        case .folder, .unreadable, .brokenOff, .replacesAndSkips, .replacesWithNothing: .invalid
        }
    }

    package var description: String {
        switch self {
        case .folder(let path): "\(path) is a folder; name a file"
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .brokenOff: "the file could not be read to its end; nothing was imported"
        case .replacesAndSkips:
            "an import with replacement cannot skip invalid rows, because their numbers would be removed"
        case .replacesWithNothing:
            "the file has no numbers, so replacement would remove all numbers; nothing was changed"
        case .unfinished(let reason):
            """
            only a part of the rows is imported: \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason); the server \
            goes on with the others within a minute, and so does the next import of this account
            """
        case .moved: "the brands changed after the preview; nothing was imported; look at the new preview"
        }
    }
}
