// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import WebPages

/// The state and gates of an account as a person writes them.
struct AccountForm: Sendable {
    private var status: String
    private var mode: String
    private var isBranding: Bool
    private var isDialer: Bool
    private var hasCards: Bool
    /// Empty for no cap.
    private var cap: String
    private var included: String
    /// `AccountList.Summary.version` of the values that the form began with.
    private(set) var version: String
    /// By the field's name.
    var problems: [String: String] = [:]
    private var isConflict = false

    init(_ account: AccountList.Summary) {
        (status, mode) = (account.status, account.mode)
        (isBranding, isDialer) = (account.brandingEnabled, account.voipDialerEnabled)
        hasCards = account.hasCards
        (cap, included) = (Self.text(account.cap), "\(account.includedImprints)")
        version = account.version.text
    }

    init(_ form: PageForm) {
        (status, mode) = (form["status"], form["mode"])
        (isBranding, isDialer) = (form.isTicked("branding"), form.isTicked("dialer"))
        hasCards = form.isTicked("card")
        (cap, included, version) = (form["cap"], form["included"], form["version"])
    }

    /// The change to an account; finds the problems of the fields.
    mutating func change(of account: AccountList.Summary) -> AccountStore.Change {
        var change = AccountStore.Change()
        // A status of an earlier version stays until another is chosen.
        change.status = status == account.status ? nil : status
        (change.mode, change.brandingEnabled, change.voipDialerEnabled) = (mode, isBranding, isDialer)
        change.hasCards = hasCards
        change.cap = cap.isEmpty ? -1 : count("cap", cap)
        change.includedImprints = count("included", included)
        return change
    }

    private mutating func count(_ field: String, _ text: String) -> Int? {
        guard let count = Int(text), count >= 0 else {
            problems[field] = "Write a whole number, 0 or more, in digits only."
            return nil
        }
        return count
    }

    /// Names a refusal of the store beside its field.
    mutating func take(_ error: AccountStoreError) {
        let field =
            switch error {
            case .badStatus: "status"
            case .badMode: "mode"
            case .badCap: "cap"
            default: "included"
            }
        problems[field] = PageDesk.sentence(error)
    }

    /// Compares with the values that another person has saved; the next save replaces them.
    mutating func compare(with account: AccountList.Summary) -> EditConflict {
        var conflict = EditConflict()
        (version, isConflict) = (account.version.text, true)
        problems["status"] = conflict.compare("Status", mine: status, theirs: account.status)
        problems["mode"] = conflict.compare("Mode", mine: mode, theirs: account.mode)
        _ = conflict.compare(
            "Branding enabled", mine: Self.text(isBranding), theirs: Self.text(account.brandingEnabled))
        _ = conflict.compare(
            "VoIP dialer enabled", mine: Self.text(isDialer), theirs: Self.text(account.voipDialerEnabled))
        _ = conflict.compare("Public cards", mine: Self.text(hasCards), theirs: Self.text(account.hasCards))
        problems["cap"] = conflict.compare("Cap", mine: cap, theirs: Self.text(account.cap))
        problems["included"] = conflict.compare(
            "Imprints included", mine: included, theirs: "\(account.includedImprints)")
        return conflict
    }

    private static func text(_ isOn: Bool) -> String { isOn ? "on" : "off" }
    private static func text(_ cap: Int?) -> String { cap.map { "\($0)" } ?? "" }

    func form(_ account: OperatorRequest.Account) -> EntryForm {
        EntryForm(
            account.path,
            [
                .hidden("version", version),
                .choice(
                    "status", "Status", status, Self.statuses(account.summary.status),
                    hint: "active and trial brand calls, every other status stops them", problem: problems["status"]),
                .choice(
                    "mode", "Mode", mode, [("live", "live"), ("testing", "testing")],
                    problem: problems["mode"]),
                .tick("branding", "Branding enabled", isBranding, hint: "off stops all brands of the account"),
                .tick("dialer", "VoIP dialer enabled", isDialer, hint: "shown to phones"),
                .tick(
                    "card", "Public cards", hasCards, hint: "a page of each brand that anybody with its link can read"),
                .text(
                    "cap", "Counted events a month, at most", cap, hint: "empty for no cap", problem: problems["cap"]),
                .text("included", "Imprints included in the plan", included, problem: problems["included"]),
            ], button: isConflict ? EditConflict.button : "Save")
    }

    /// The states to choose from, with one of an earlier version as long as the account has it.
    private static func statuses(_ present: String) -> [(String, String)] {
        let known = AccountState.allCases.map { ($0.rawValue, $0.rawValue) }
        return AccountState(rawValue: present) == nil
            ? [(present, "\(present) (unknown, stops branding)")] + known : known
    }
}
