// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import WebPages

/// The fields of a brand as a person writes them.
struct BrandForm: Sendable {
    var id = ""
    var name = ""
    var logo = LogoChoice()
    var reason = ""
    var owner = BrandList.Owner.active.rawValue
    var isNew = true
    /// `BrandList.Brand.version` of the values that the form began with.
    var version = ""
    private var isConflict = false
    /// By the field's name.
    var problems: [String: String] = [:]

    init() {}

    init(_ brand: BrandList.Brand) {
        (id, name, reason) = (brand.id, brand.name, brand.reason ?? "")
        (logo, owner, isNew, version) = (LogoChoice(brand.logo), brand.owner.rawValue, false, brand.version.text)
    }

    init(_ form: PageForm, isNew: Bool) {
        (id, name, reason) = (form["id"], form["brand_name"], form["call_reason"])
        (logo, owner, version, self.isNew) = (LogoChoice(form), form["owner_state"], form["version"], isNew)
    }

    /// Finds the problems of all fields, by the rules of the store.
    mutating func check() {
        if name.isEmpty { problems["brand_name"] = "Write the name that phones show." }
        let fields = [("brand_name", name), ("call_reason", reason)]
        for (field, text) in fields + (isNew ? [("brand_id", id)] : []) where !text.isEmpty {
            guard let problem = EntryRules.problem(field, text) else { continue }
            problems[field] = PageDesk.sentence(problem.replacing(field, with: Self.names[field] ?? field))
        }
        if let problem = logo.problem { problems["logo_url"] = problem }
        if BrandList.Owner(rawValue: owner) == nil { problems["owner_state"] = "Choose one of the states." }
    }

    private static let names = [
        "brand_name": "the name", "call_reason": "the call reason", "brand_id": "the identifier",
    ]

    /// The fields that differ from a brand; nil compares with an empty one.
    ///
    /// - Parameter logo: the chosen logo, empty for none.
    func change(from brand: BrandList.Brand?, logo: String) -> BrandList.Change {
        var change = BrandList.Change()
        if name != brand?.name { change.name = name }
        // The same logo again would deliver all numbers again.
        if logo != brand?.logo ?? "" { change.logo = logo }
        if reason != brand?.reason ?? "" { change.reason = reason }
        let owner = BrandList.Owner(rawValue: owner)
        if owner != brand?.owner { change.owner = owner }
        return change
    }

    /// Compares with the values that another person has saved; the next save replaces them.
    mutating func compare(with brand: BrandList.Brand) -> EditConflict {
        var conflict = EditConflict()
        (version, isConflict) = (brand.version.text, true)
        problems["brand_name"] = conflict.compare("Name", mine: name, theirs: brand.name)
        // A new picture has no address yet.
        problems["logo_url"] = conflict.compare(
            "Logo", mine: logo.text ?? "the new picture", theirs: brand.logo ?? "")
        problems["call_reason"] = conflict.compare("Call reason", mine: reason, theirs: brand.reason ?? "")
        problems["owner_state"] = conflict.compare("Owner", mine: owner, theirs: brand.owner.rawValue)
        return conflict
    }

    /// The card of a phone with the written values.
    ///
    /// - Parameter number: a number of the brand as the session shows it; nil without one.
    func card(number: String?) -> PhoneCard {
        PhoneCard(
            name: name, reason: reason, number: number, logo: logo.picture,
            isElsewhere: logo.picture == nil && logo.text?.isEmpty == false)
    }

    /// - Parameter known: the logos of the directory, the newest first.
    func form(_ account: OperatorRequest.Account, known: [String]) -> EntryForm {
        let identifier: FormField =
            isNew
            ? .text(
                "id", "Identifier", id, hint: "empty makes it from the letters of the name; it never changes",
                problem: problems["brand_id"])
            : .hidden("id", id)
        let fields =
            [
                .text("brand_name", "Name", name, isRequired: true, problem: problems["brand_name"]), identifier,
                .hidden("version", version),
            ]
            + logo.fields(known: known, problems: problems) + [
                .text(
                    "call_reason", "Call reason", reason, hint: "for numbers without a reason of their own",
                    problem: problems["call_reason"]),
                .choice(
                    "owner_state", "Owner", owner,
                    BrandList.Owner.allCases.map { ($0.rawValue, $0.rawValue) },
                    hint: "numbers of a suspended or unresolved owner are held back",
                    problem: problems["owner_state"]),
            ]
        let path = account.path + (isNew ? "/brands" : "/brand")
        var form = EntryForm(
            path, fields, button: isConflict ? EditConflict.button : isNew ? "Add brand" : "Save brand")
        form.other = .init(otherAction: path + "/preview", otherButton: "Preview")
        return form
    }
}
