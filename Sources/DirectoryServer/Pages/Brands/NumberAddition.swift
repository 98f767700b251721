// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import WebPages

/// The numbers of a form, added to a brand.
///
/// Valid lines are added even if others are rejected.
struct NumberAddition: Sendable {
    let lines: NumberLines
    /// The added numbers in a sentence; nil if none was added.
    private let done: String?

    /// Adds the lines of the request's form.
    ///
    /// - Throws: an error of the database.
    init(_ request: OperatorRequest, _ account: OperatorRequest.Account, _ brand: BrandList.Brand) async throws {
        var lines = NumberLines(request.form)
        let numbers = lines.numbers()
        self.lines = lines
        guard !numbers.isEmpty else {
            done = nil
            return
        }
        let (database, id, now, reason) = (request.database, account.id, request.now, lines.reason)
        let moved = try await request.blocking {
            try BrandNumbers(database, account: id).set(
                numbers, brandID: brand.id, reason: reason.isEmpty ? nil : reason, now: now)
        }
        done = Self.added(numbers, to: brand, moved, request)
    }

    /// True if every line was added.
    var isComplete: Bool { lines.rejected.isEmpty && done != nil }

    /// The result above the next page; nil if the form has a problem and nothing was added.
    var notice: PageNotice? {
        guard let done else { return nil }
        if lines.rejected.isEmpty { return PageNotice(.done, done) }
        let count = lines.rejected.count
        let rest = count == 1 ? "1 line was" : "\(Amount.count(count)) lines were"
        return PageNotice(.warning, "\(done) \(rest) not added. Correct the form and send it again.")
    }

    /// The added numbers, with the brands that had them before.
    private static func added(
        _ numbers: [E164Number], to brand: BrandList.Brand, _ moved: [BrandNumbers.NumberRow],
        _ request: OperatorRequest
    ) -> String {
        let added =
            numbers.count == 1
            ? "\(request.shown("\(numbers[0])")) rings" : "\(Amount.count(numbers.count)) numbers ring"
        let text = "\(added) as \(brand.name) from the next sync on."
        guard let first = moved.first else { return text }
        return moved.count == 1
            ? text + " \(numbers.count == 1 ? "It" : "One") was a number of \(first.name)."
            : text + " \(Amount.count(moved.count)) of them were numbers of other brands, such as \(first.name)."
    }
}
