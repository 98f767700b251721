// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import WebPages

/// The fields of a brand as a person writes them.
struct BrandForm: Sendable {
    var id = ""
    var name = ""
    var logo = ""
    var reason = ""
    var owner = BrandList.Owner.active.rawValue
    var isNew = true
    /// By the field's name in the API.
    var problems: [String: String] = [:]

    init() {}

    init(_ brand: BrandList.Brand) {
        (id, name, logo, reason) = (brand.id, brand.name, brand.logo ?? "", brand.reason ?? "")
        (owner, isNew) = (brand.owner.rawValue, false)
    }

    init(_ form: PageForm) {
        (id, name, logo, reason) = (form["id"], form["brand_name"], form["logo_url"], form["call_reason"])
        owner = form["owner_state"]
    }

    /// Finds the problems of all fields, by the rules of the store.
    mutating func check(isNew: Bool) {
        if name.isEmpty { problems["brand_name"] = "Write the name that phones show." }
        let fields = [("brand_name", name), ("logo_url", logo), ("call_reason", reason)]
        for (field, text) in fields + (isNew ? [("brand_id", id)] : []) where !text.isEmpty {
            guard let problem = EntryRules.problem(field, text) else { continue }
            problems[field] = PageDesk.sentence(problem.replacing(field, with: Self.names[field] ?? field))
        }
        if BrandList.Owner(rawValue: owner) == nil { problems["owner_state"] = "Choose one of the states." }
    }

    private static let names = [
        "brand_name": "the name", "logo_url": "the logo", "call_reason": "the call reason",
        "brand_id": "the identifier",
    ]

    /// The fields that differ from a brand; nil compares with an empty one.
    func change(from brand: BrandList.Brand?) -> BrandList.Change {
        var change = BrandList.Change()
        if name != brand?.name { change.name = name }
        // The same logo again would deliver all numbers again.
        if logo != brand?.logo ?? "" { change.logo = logo }
        if reason != brand?.reason ?? "" { change.reason = reason }
        let owner = BrandList.Owner(rawValue: owner)
        if owner != brand?.owner { change.owner = owner }
        return change
    }

    func form(
        _ account: OperatorRequest.Account, _ request: OperatorRequest, button: String
    ) async throws -> EntryForm {
        let database = request.database
        let logos = try await request.blocking { try LogoStore(database).all().prefix(500).map(\.name) }
        let identifier: FormField =
            isNew
            ? .text(
                "id", "Identifier", id, hint: "empty makes it from the letters of the name; it never changes",
                problem: problems["brand_id"])
            : .hidden("id", id)
        return EntryForm(
            account.path + (isNew ? "/brands" : "/brand"),
            [
                .text("brand_name", "Name", name, isRequired: true, problem: problems["brand_name"]),
                identifier,
                .text(
                    "logo_url", "Logo", logo,
                    hint: "the name of an uploaded logo, or an https:// address; empty for none",
                    suggestions: logos, problem: problems["logo_url"]),
                .text(
                    "call_reason", "Call reason", reason, hint: "for numbers without a reason of their own",
                    problem: problems["call_reason"]),
                .choice(
                    "owner_state", "Owner", owner,
                    BrandList.Owner.allCases.map { ($0.rawValue, $0.rawValue) },
                    hint: "numbers of a suspended or unresolved owner are held back",
                    problem: problems["owner_state"]),
            ], button: button)
    }
}

/// A number in the notation of people, with its region.
struct NumberForm: Sendable {
    private var text = ""
    private var region = ""
    private(set) var reason = ""
    private var problems: [String: String] = [:]

    init() {}

    init(_ form: PageForm) { (text, region, reason) = (form["number"], form["region"], form["call_reason"]) }

    /// The number; nil after finding problems.
    mutating func number() -> E164Number? {
        if let problem = reason.isEmpty ? nil : EntryRules.problem("call_reason", reason) {
            problems["call_reason"] = PageDesk.sentence(problem.replacing("call_reason", with: "the call reason"))
        }
        var known: Region?
        if !region.isEmpty {
            known = Region(region.uppercased())
            if known == nil { problems["region"] = "A region is two letters, such as AU or DE." }
        }
        guard !text.isEmpty else {
            problems["number"] = "Write a number such as +61491570156."
            return nil
        }
        let normaliser = NumberNormaliser(region: known)
        let cell = NumberCell(text)
        guard let number = cell.number({ normaliser.normalise(Array($0.utf8)) }) else {
            problems["number"] = PageDesk.sentence(
                cell.problem(region: known.map { "\($0)" }, setting: "the field Region"))
            return nil
        }
        return problems.isEmpty ? number : nil
    }

    func form(_ action: String, brand: String) -> EntryForm {
        EntryForm(
            action,
            [
                .hidden("id", brand),
                .text(
                    "number", "Number", text, hint: "with + and the country code, or national with its region",
                    type: "tel", isRequired: true, problem: problems["number"]),
                .text(
                    "region", "Region", region, hint: "two letters, only for a national number",
                    problem: problems["region"]),
                .text(
                    "call_reason", "Call reason", reason, hint: "empty takes the brand's",
                    problem: problems["call_reason"]),
            ], button: "Add number")
    }
}
