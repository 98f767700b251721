// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import CallPath
import GatewayStore
import Primitives
import Trust

/// A recorded call that would be decided otherwise, or that cannot be decided again.
struct ReplayedChange: Sendable {
    /// The kind of a change; the raw value is its name in JSON and CSV.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case losesBrand = "loses_brand"
        case gainsBrand = "gains_brand"
        /// Branded before and now, by another name.
        case otherName = "other_name"
        /// Unbranded before and now, for another reason.
        case otherReason = "other_reason"
        /// `routes.default: reject` has no PBX for the call.
        case rejected
        /// The recorded decision stays.
        case undecided

        /// The words of a table.
        var text: String { rawValue.replacing("_", with: " ") }
    }

    /// The cause of a change; the raw value is its name in JSON and CSV.
    enum Cause: String, Hashable, Sendable {
        case configuration
        case brandAdded = "brand_added"
        case brandRemoved = "brand_removed"
        case brandRenamed = "brand_renamed"

        var text: String { rawValue.replacing("_", with: " ") }
    }

    /// The calls that one line of the summary counts.
    struct Group: Hashable, Sendable {
        let kind: Kind
        /// Decisions as the ledger spells them; the later one is `rejected` for a rejected call, empty for an undecided one.
        let before: String
        let after: String
        /// Nil for an undecided call.
        let cause: Cause?
        let undecided: UndecidedCause?
    }

    let call: DecidedCall
    let group: Group
    /// The name that would be written; nil for none.
    let name: String?
    let brandID: String?
    /// The reason of the change in a clause.
    let why: String
}

extension ReplayedChange {
    /// The parts of two configurations that choose and render a brand.
    struct Likeness {
        let hasSameProfile: Bool
        /// Whether the call has brands of the customer that its record names.
        let hasSameCustomer: Bool
    }

    /// Compares the record with its replay; nil for a call that would not change.
    init?(_ call: DecidedCall, _ replayed: CallReplay.Replayed, in index: BrandIndex, _ likeness: Likeness) {
        let before = call.reason
        self.call = call
        switch replayed.now {
        case .undecided(let cause):
            group = Group(kind: .undecided, before: call.decision, after: "", cause: nil, undecided: cause)
            (name, brandID, why) = (nil, nil, "cannot be decided again: \(cause.text)")
        case .rejected:
            group = Group(
                kind: .rejected, before: call.decision, after: "rejected", cause: .configuration, undecided: nil)
            (name, brandID, why) = (nil, nil, "no route has the called number, and routes.default is reject")
        case .decided(let after):
            guard let change = Self.change(of: call, to: after, replayed, in: index, likeness) else { return nil }
            let entry = after == nil ? replayed.entry : nil
            name = replayed.isNamed ? entry.map { index.text(.name, $0) } : nil
            brandID = entry.map { index.text(.brandID, $0) }
            group = Group(
                kind: change.kind, before: call.decision, after: after?.description ?? "matched",
                cause: change.cause, undecided: nil)
            why = Self.why(call, before, after, change.cause, replayed.evidence)
        }
    }

    private static func change(
        of call: DecidedCall, to after: PassThroughReason?, _ replayed: CallReplay.Replayed, in index: BrandIndex,
        _ likeness: Likeness
    ) -> (kind: Kind, cause: Cause)? {
        let before = call.reason
        guard before == after else {
            let kind: Kind = before == nil ? .losesBrand : after == nil ? .gainsBrand : .otherReason
            guard likeness.hasSameCustomer, replayed.byRules == .decided(before) else { return (kind, .configuration) }
            return (kind, replayed.entry == nil ? .brandRemoved : .brandAdded)
        }
        guard before == nil, let evidence = call.evidence else { return nil }
        guard evidence.isNamed == replayed.isNamed else { return (.otherName, .configuration) }
        // Of signed names the values are not recorded. The recorded one stays.
        guard let entry = replayed.entry,
            [NameOrigin.none, .directory].contains(call.trust?.nameOrigin ?? NameOrigin.none),
            !isRecorded(index.text(.name, entry), as: call.brandName ?? "")
        else { return nil }
        let isSame = likeness.hasSameCustomer && likeness.hasSameProfile
        return (.otherName, isSame ? .brandRenamed : .configuration)
    }

    /// Whether a name is that of a record, which keeps its begin.
    private static func isRecorded(_ name: String, as recorded: String) -> Bool {
        if name == recorded { return true }
        let kept = CallTexts.cut(Array(name.utf8)[...], to: CallTexts.limits.brandName)
        return kept.elementsEqual(recorded.utf8)
    }

    private static func why(
        _ call: DecidedCall, _ before: PassThroughReason?, _ after: PassThroughReason?, _ cause: Cause,
        _ evidence: DecisionEvidence?
    ) -> String {
        switch cause {
        case .brandAdded: return "the number has got a brand since"
        case .brandRemoved: return "the number has lost its brand since"
        case .brandRenamed: return "the brand was renamed since"
        case .configuration: break
        }
        if let after { return MissingBrand(after, trunk: call.trunk, evidence: evidence).because }
        guard let before else { return "the configuration writes names otherwise" }
        return "before, " + MissingBrand(before, trunk: call.trunk, evidence: call.evidence).because
    }
}

// MARK: - Text, CSV, JSON

extension ReplayedChange {
    static let csvTitles = [
        "call_id", "invite_at", "trunk", "customer", "caller", "destination", "decision", "brand_name", "change",
        "new_decision", "new_brand_id", "new_brand_name", "cause", "why",
    ]

    private var time: String { OperatorTime.text(call.inviteAt / 1_000_000) }
    private var causeName: String { group.cause?.rawValue ?? group.undecided?.rawValue ?? "" }

    var csvCells: [String?] {
        [
            call.callID, time, call.trunk, call.customer, call.caller?.description, call.destination?.description,
            call.decision, call.brandName, group.kind.rawValue, group.after, brandID, name, causeName, why,
        ]
    }

    var json: [String: JSONValue?] {
        [
            "call_id": .string(call.callID), "invite_at": JSONValue(microseconds: call.inviteAt),
            "trunk": JSONValue(call.trunk), "customer": JSONValue(call.customer),
            "caller": JSONValue(call.caller?.description), "destination": JSONValue(call.destination?.description),
            "decision": .string(call.decision), "brand_name": JSONValue(call.brandName),
            "change": .string(group.kind.rawValue), "new_decision": group.after.isEmpty ? nil : .string(group.after),
            "new_brand_id": JSONValue(brandID), "new_brand_name": JSONValue(name), "cause": .string(causeName),
            "why": .string(why),
        ]
    }

    static let titles = ["TIME", "TRUNK", "CALLER", "CALLED", "BEFORE", "AFTER", "NAME", "WHY"]
    /// Columns of a wide table alone.
    static let wideOnly: Set<String> = ["TRUNK", "CALLED", "NAME"]

    func cells(in zone: LocalZone) -> [String?] {
        [
            String(zone.wall(call.inviteAt / 1_000_000).prefix(16)), call.trunk,
            call.evidence?.isWithheld == true ? "withheld" : call.caller?.description, call.destination?.description,
            call.decision, group.after, name, why,
        ]
    }
}
