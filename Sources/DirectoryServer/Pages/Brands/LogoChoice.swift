// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import WebPages

/// The logo of a brand as a person chooses it: none, a picture of the directory, a new picture, or a name or an address.
struct LogoChoice: Sendable {
    /// The chosen value of the group: empty for none, a plain name, `otherValue`, or a new picture.
    private(set) var chosen = ""
    /// The name or address that the person writes.
    private(set) var other = ""
    /// `other` as the form showed it at first.
    private var shown = ""

    /// No name of a logo begins with a plus sign.
    static let otherValue = "+other"
    private static let newPrefix = "+new-"
    /// The pictures to choose from, beside the present one.
    static let most = 11

    init() {}

    /// - Parameter logo: the logo of a brand as the store has it.
    init(_ logo: String?) {
        guard let logo else { return }
        if LogoRules.isPlainName(logo) {
            chosen = logo
        } else {
            (chosen, other, shown) = (Self.otherValue, logo, logo)
        }
    }

    init(_ form: PageForm) {
        (chosen, other, shown) = (form["logo_url"], form["logo_other"], form["logo_shown"])
        let isKnown = chosen.isEmpty || chosen == Self.otherValue || upload != nil || LogoRules.isPlainName(chosen)
        if !isKnown { (chosen, other) = (Self.otherValue, chosen) }
    }

    /// The identifier of a new picture that waits for its brand; nil for another choice.
    var upload: String? { chosen.hasPrefix(Self.newPrefix) ? String(chosen.dropFirst(Self.newPrefix.count)) : nil }

    /// The logo for the store, empty for none; nil for a new picture.
    var text: String? { upload != nil ? nil : chosen == Self.otherValue ? other : chosen }

    mutating func take(upload id: String) { chosen = Self.newPrefix + id }

    /// The problem of the choice and its remedy; nil for a valid one.
    var problem: String? {
        if chosen == Self.otherValue, other.isEmpty { return "Write a name or an address, or choose no logo." }
        if chosen != Self.otherValue, !other.isEmpty, other != shown {
            return "An address is written, and another logo is chosen. Choose the address, or empty it."
        }
        guard let text, !text.isEmpty, let problem = EntryRules.problem("logo_url", text) else { return nil }
        return PageDesk.sentence(problem.replacing("logo_url", with: "the logo"))
    }

    /// The address of the picture on these pages; nil for none, and for a picture of another server.
    var picture: String? {
        if let upload { return "/logo-upload/\(PagePath.encoded(upload))/picture" }
        guard let text, LogoRules.isPlainName(text) else { return nil }
        return LogoPages.picture(text)
    }

    /// The fields of the form.
    ///
    /// - Parameters:
    ///   - known: the logos of the directory, the newest first.
    ///   - problems: by the name of the field.
    func fields(known: [String], problems: [String: String]) -> [FormField] {
        let present = upload == nil && LogoRules.isPlainName(chosen) ? [chosen] : []
        let offered = present + known.filter { !present.contains($0) }.prefix(Self.most)
        var choices = [FormField.Choice(choiceValue: "", choiceText: "no logo", isChosen: chosen.isEmpty)]
        if upload != nil {
            choices.append(.init(choiceValue: chosen, choiceText: "the new picture", isChosen: true, picture: picture))
        }
        choices += offered.map {
            .init(choiceValue: $0, choiceText: $0, isChosen: $0 == chosen, picture: LogoPages.picture($0))
        }
        choices.append(
            .init(
                choiceValue: Self.otherValue, choiceText: "the name or address below",
                isChosen: chosen == Self.otherValue))
        return [
            .pictures("logo_url", "Logo", choices, problem: problems["logo_url"]),
            .text(
                "logo_other", "Name or address of a logo", other, hint: "of the directory, or an https:// address",
                suggestions: Array(known.prefix(500))),
            .hidden("logo_shown", shown),
            .file(
                "logo_file", "New picture", hint: "\(LogoPages.formats); it becomes the logo of this brand",
                accepts: LogoPages.types, problem: problems["logo_file"]),
        ]
    }
}
