// SPDX-License-Identifier: Apache-2.0

import WebPages

/// A form that was not saved, because another person has saved its object meanwhile: both values of each field that differs.
struct EditConflict: Sendable {
    private(set) var lines: [(label: String, mine: String, theirs: String)] = []

    /// Adds a field if its values differ.
    ///
    /// - Returns: the text beside the field; nil for equal values.
    mutating func compare(_ label: String, mine: String, theirs: String) -> String? {
        if mine == theirs { return nil }
        lines.append((label, mine, theirs))
        return "Saved meanwhile: \(Self.shown(theirs))"
    }

    /// The comparison above the form, with the way to the other person's values.
    ///
    /// - Parameter page: the page that shows the present values.
    func part(page: String) -> PagePart {
        var table = PageTable(
            "Your values and those saved meanwhile", ["Field", "Yours", "Saved meanwhile"],
            empty: "All values are equal.")
        for line in lines { table.add(.text(line.label), .text(Self.shown(line.mine)), .text(Self.shown(line.theirs))) }
        return PagePart(
            heading: "Two persons have changed this",
            texts: ["Take theirs, or save yours with the button of the form."],
            table: table, linkList: .init(links: [PageLink(href: page, linkText: "Take theirs")]))
    }

    /// The notice above the page.
    ///
    /// - Parameter name: the object, such as `this brand`.
    static func notice(_ name: String) -> PageNotice {
        PageNotice(.error, "Another person has changed \(name) since you opened it, so nothing was saved.")
    }

    static let button = "Save mine"

    private static func shown(_ value: String) -> String { value.isEmpty ? "nothing" : value }
}
