// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import HTTPTypes
import WebPages

/// The page with the changes of a file before they are made.
struct ImportPreview: Sendable {
    let request: OperatorRequest
    let account: OperatorRequest.Account
    let id: String
    let result: BrandImport.Result

    private var path: String { account.path + "/import/" + id }

    /// - Parameter hasMoved: true after a refused confirmation.
    func page(hasMoved: Bool = false, regionProblem: String? = nil) -> PageResult {
        var parts = [summary]
        if hasMoved {
            let text =
                "The brands changed since the preview, so nothing was imported. This is the new preview; confirm it, or cancel."
            parts[0].notices.insert(.warning(text), at: 0)
        }
        if let plan = result.plan {
            parts += [
                part("Added", plan.added, plan.addedCount), part("Changed", plan.changed, plan.changedCount),
                part("Removed", plan.removed, plan.removedCount),
            ].compactMap { $0 }
        }
        if !result.problems.isEmpty {
            // The lines that stop or shorten the import come before the changes.
            parts.insert(contentsOf: [rejected, region(problem: regionProblem)], at: 1)
        }
        if !result.warnings.isEmpty {
            parts.append(problems("Warnings about lines that are imported", result.warnings, result.warnings.count))
        }
        return request.result(
            "Preview of the import", of: account, tab: "/import", parts: parts,
            status: regionProblem != nil ? .unprocessableContent : hasMoved ? .conflict : .ok)
    }

    /// The page after an import without the invalid lines.
    ///
    /// - Parameter text: the result of the valid lines.
    func report(_ text: String) -> PageResult {
        let count = Amount.count(result.rejected)
        let rest =
            result.rejected == 1
            ? "1 line was rejected. Correct it, and import it as a file of its own."
            : "\(count) lines were rejected. Correct them, and import them as a file of their own."
        let first = PagePart(
            notices: [.done(text), .warning(rest)],
            linkList: .init(links: [
                PageLink(href: account.path + "/brands", linkText: "Brands"),
                PageLink(href: account.path + "/import", linkText: "Import the corrected lines"),
            ]))
        return request.result("Result of the import", of: account, tab: "/import", parts: [first, rejected])
    }

    private var rejected: PagePart {
        var part = problems("Rejected lines", result.problems, result.rejected)
        part.linkList = .init(links: [PageLink(href: path + "/rejected.csv", linkText: "Rejected lines as CSV")])
        return part
    }

    private func region(problem: String?) -> PagePart {
        let field = FormField.text(
            "region", "Region", hint: "two letters, such as AU, if national numbers were rejected", problem: problem)
        return PagePart(form: EntryForm(path + "/region", [field], button: "Read the file again", isQuiet: true))
    }

    /// The valid lines of the file.
    private var valid: Int { result.imported + result.unchanged }

    private var summary: PagePart {
        let plan = result.plan
        var part = PagePart.tiles([
            .init("Added", Amount.count(plan?.addedCount ?? 0)),
            .init("Changed", Amount.count(plan?.changedCount ?? 0)),
            .init("Out of service", Amount.count(plan?.removedCount ?? 0)),
            .init("Unchanged", Amount.count(result.unchanged)), .init("Rejected lines", Amount.count(result.rejected)),
            .init("Brands new or changed", Amount.count(plan?.brandCount ?? 0)),
        ])
        let isEmpty = plan.map { $0.addedCount + $0.changedCount + $0.removedCount + $0.brandCount == 0 } ?? true
        guard plan != nil else {
            part.notices = [.error(refusal)]
            part.linkList = .init(links: [PageLink(href: account.path + "/import", linkText: "Send the file again")])
            return part
        }
        if isEmpty || result.isEmpty {
            part.notices = [
                .warning(result.isEmpty ? "No line of this file is valid." : "This file would change nothing.")
            ]
            part.linkList = .init(links: [PageLink(href: account.path + "/import", linkText: "Send another file")])
            return part
        }
        if result.rejected > 0 {
            let rest = result.rejected == 1 ? "1 line is" : "\(Amount.count(result.rejected)) lines are"
            part.notices = [.warning("\(rest) invalid and not imported. The reasons are below.")]
        }
        let lines = valid == 1 ? "Import the valid line" : "Import the \(Amount.count(valid)) valid lines"
        part.form = EntryForm(path, [], button: result.rejected > 0 ? lines : "Import these changes")
        part.form?.other = .init(otherAction: path + "/cancel", otherButton: "Discard the file")
        part.texts = ["Nothing is written yet. Gateways and phones receive the changes with their next sync."]
        return part
    }

    /// The reason for which nothing of the file can be imported.
    private var refusal: String {
        valid == 0 && result.problems.first?.line == 1
            ? "This is no file of brands. Correct its first line and send it again."
            : "A replacement takes no file with invalid lines, because their numbers would be removed. Correct the lines, or import without a replacement."
    }

    private func part(_ kind: String, _ changes: [ImportPlan.Change], _ count: Int) -> PagePart? {
        guard count > 0 else { return nil }
        let more = count > changes.count ? "\(kind), the first \(changes.count) of \(Amount.count(count))" : kind
        var table = PageTable(more, ["Number", "Brand", "Identifier", "Logo", "Call reason"], empty: "")
        for change in changes {
            func cell(_ field: (ImportPlan.Values) -> String?) -> PageTable.Cell {
                let (before, after) = (change.before.flatMap(field), change.after.flatMap(field))
                guard change.before != nil, change.after != nil, before != after else {
                    return .text(change.after == nil ? before : after)
                }
                return .text(after ?? "none", detail: "was " + (before ?? "none"))
            }
            table.add(
                .text(request.shown(change.number)), cell(\.name), cell(\.brandID), cell(\.logo), cell(\.reason))
        }
        return PagePart(table: table)
    }

    private func problems(_ caption: String, _ problems: [BrandImport.Problem], _ count: Int) -> PagePart {
        let more =
            count > problems.count ? "\(caption), the first \(problems.count) of \(Amount.count(count))" : caption
        var table = PageTable(more, ["#Line", "Column", "Reason"], empty: "")
        for problem in problems {
            table.add(
                .text("\(problem.line)"), .text(problem.column), .text(Self.shown(problem.reason, request)))
        }
        return PagePart(table: table)
    }

    /// A reason in the words of the pages, with masked numbers except for the example in it.
    static func shown(_ reason: String, _ request: OperatorRequest) -> String {
        let example = "such as +61491570156"
        return reason.replacing("(--region)", with: "(field Region)").components(separatedBy: example).map {
            request.shownText($0)
        }.joined(separator: example)
    }
}
