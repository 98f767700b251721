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
    func page(hasMoved: Bool = false) -> PageResult {
        var parts = [summary]
        if hasMoved {
            let text =
                "The brands changed since the preview, so nothing was imported. This is the new preview; confirm it, or cancel."
            parts[0].notices.insert(.warning(text), at: 0)
        }
        if let plan = result.plan {
            parts += [
                part("Added", plan.added, plan.addedCount), part("Changed", plan.changed, plan.changedCount),
                part("Taken out of service", plan.removed, plan.removedCount),
            ].compactMap { $0 }
        }
        if !result.problems.isEmpty { parts.append(problems("Rejected lines", result.problems, result.rejected)) }
        if !result.warnings.isEmpty {
            parts.append(problems("Warnings about lines that are imported", result.warnings, result.warnings.count))
        }
        return request.result(
            "Preview of the import", of: account, tab: "/import", parts: parts, status: hasMoved ? .conflict : .ok)
    }

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
            part.notices = [
                .error("The file has invalid lines, so nothing can be imported. Correct them, or skip invalid lines.")
            ]
            part.linkList = .init(links: [PageLink(href: account.path + "/import", linkText: "Send the file again")])
            return part
        }
        if isEmpty || result.isEmpty {
            part.notices = [.warning("This file would change nothing.")]
            part.linkList = .init(links: [PageLink(href: account.path + "/import", linkText: "Send another file")])
            return part
        }
        part.form = EntryForm(path, [], button: "Import these changes")
        part.form?.other = .init(otherAction: path + "/cancel", otherButton: "Discard the file")
        part.texts = ["Nothing is written yet. Gateways and phones receive the changes with their next sync."]
        return part
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
            let reason = problem.reason.replacing("(--region)", with: "(field Region)")
            table.add(.text("\(problem.line)"), .text(problem.column), .text(shown(reason)))
        }
        return PagePart(table: table)
    }

    /// A reason with masked numbers, except for the example in it.
    private func shown(_ reason: String) -> String {
        let example = "such as +61491570156"
        return reason.components(separatedBy: example).map(request.shownText).joined(separator: example)
    }
}
