// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import Foundation
import WebPages

/// Numbers for a brand in the notation of people, one a line.
struct NumberLines: Sendable {
    /// A line that is no number.
    struct Rejected: Hashable, Sendable {
        /// Counted from 1.
        let line: Int
        let text: String
        let reason: String
    }

    /// Lines of one form; longer lists are files for an import.
    static let most = 1000

    private var lines: [Substring] = []
    private var region = ""
    private(set) var reason = ""
    private(set) var rejected: [Rejected] = []
    private var problems: [String: String] = [:]

    init() {}

    init(_ form: PageForm) { (lines, region, reason) = (form.lines("numbers"), form["region"], form["call_reason"]) }

    /// Reads the valid lines, each number once; finds the problems of the others.
    mutating func numbers() -> [E164Number] {
        if !reason.isEmpty, let problem = EntryRules.problem("call_reason", reason) {
            problems["call_reason"] = PageDesk.sentence(problem.replacing("call_reason", with: "the call reason"))
        }
        var known: Region?
        if !region.isEmpty {
            known = Region(region.uppercased())
            if known == nil { problems["region"] = "A region is two letters, such as AU or DE." }
        }
        let written = lines.enumerated().filter { !$0.element.allSatisfy(\.isWhitespace) }
        if written.isEmpty { problems["numbers"] = "Write a number such as +61491570156." }
        if written.count > Self.most {
            problems["numbers"] =
                "These are \(Amount.count(written.count)) lines. Import more than \(Amount.count(Self.most)) as a file."
        }
        guard problems.isEmpty else { return [] }
        let normaliser = NumberNormaliser(region: known)
        var (numbers, seen): ([E164Number], Set<E164Number>) = ([], [])
        for (place, line) in written {
            let text = line.trimmingCharacters(in: .whitespaces)
            let cell = NumberCell(text)
            if let number = cell.number({ normaliser.normalise(Array($0.utf8)) }) {
                if seen.insert(number).inserted { numbers.append(number) }
            } else {
                let reason = cell.problem(region: known.map { "\($0)" }, setting: "the field Region")
                rejected.append(
                    Rejected(line: place + 1, text: String(text.prefix(80)), reason: PageDesk.sentence(reason)))
            }
        }
        // The form comes back with the lines that are left.
        if !rejected.isEmpty {
            lines = rejected.map { $0.text[...] }
            problems["numbers"] = rejected[0].reason
        }
        return numbers
    }

    /// - Parameter brand: the field of the brand that gets the numbers.
    func form(_ action: String, brand: FormField) -> EntryForm {
        EntryForm(
            action,
            [
                brand,
                .area(
                    "numbers", "Numbers", lines.joined(separator: "\n"),
                    hint: "one a line, with + and the country code, or national with the region",
                    problem: problems["numbers"]),
                .text(
                    "region", "Region", region, hint: "two letters, only for national numbers",
                    problem: problems["region"]),
                .text(
                    "call_reason", "Call reason", reason, hint: "empty takes the brand's",
                    problem: problems["call_reason"]),
            ], button: "Add numbers")
    }

    /// The rejected lines with their reasons; nil without one.
    var report: PagePart? {
        if rejected.isEmpty { return nil }
        var table = PageTable("Lines that were not added", ["#Line", "Text", "Reason"], empty: "")
        for line in rejected.prefix(200) { table.add(.text("\(line.line)"), .text(line.text), .text(line.reason)) }
        return PagePart(table: table)
    }
}
