// SPDX-License-Identifier: Apache-2.0

import DirectoryStore

/// A brand that a person has typed: its identifier, its name, or a part of one of them that no other brand has.
struct TypedBrand: Sendable {
    let text: String
    private(set) var problem: String?
    private(set) var brand: BrandList.Brand?

    /// An empty field.
    init() { text = "" }

    /// Looks for the brand; without one of its own the field has a problem.
    ///
    /// - Throws: an error of the database.
    init(_ text: String, in list: BrandList) throws {
        self.text = text
        if text.isEmpty {
            problem = "Write the name or the identifier of a brand."
            return
        }
        if try list.names(of: [text]).isEmpty == false {
            brand = try list.brand(text)
            return
        }
        let found = try list.page(containing: text, after: nil, limit: 20)
        let named = found.filter { $0.name.lowercased() == text.lowercased() }
        let fitting = named.isEmpty ? found : named
        switch fitting.count {
        case 0: problem = "No brand has this in its name or identifier."
        case 1: brand = fitting[0]
        default:
            let few = fitting.prefix(3).map(\.id).joined(separator: ", ")
            problem = "Several brands have this, such as \(few). Write the identifier of one."
        }
    }

    /// The field of a form.
    ///
    /// - Parameter known: identifiers that the browser offers.
    func field(known: [String]) -> FormField {
        .text("brand", "Brand", text, hint: "its name or identifier", suggestions: known, problem: problem)
    }
}
