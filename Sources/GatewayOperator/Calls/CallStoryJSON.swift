// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import GatewayStore

extension LedgerCallRow {
    /// The members of `herald calls show --json` beyond those of a list.
    ///
    /// - Parameter brand: the brand of the call as it is now; nil where it has gone or is another one.
    func storyJSON(_ brand: PresentBrand?) -> [String: JSONValue?] {
        let (story, ladder) = (story, ladder)
        let changes = story.changes.flatMap { $0.lines(brand, shown: { $0 }) }
        func lines(_ mark: String) -> JSONValue { .array(changes.filter { $0.mark == mark }.map { .string($0.line) }) }
        return [
            "title": .string(story.title.text { $0 }), "card": CallCard(story, brand)?.json,
            "cause": JSONValue(story.missing?.cause.text { $0 }),
            "remedy": JSONValue(story.missing?.remedy.text { $0 }), "evidence": evidenceJSON,
            "timeline": .array(ladder.rungs.map(\.json)), "removed": lines("-"), "added": lines("+"),
        ]
    }

    /// The evidence of the decision; null if none was kept.
    private var evidenceJSON: JSONValue {
        guard let steps = DecisionSteps(self) else { return .null }
        return .array(
            steps.all.map { .object(["step": .string($0.name), "finding": .string($0.finding { $0 })]) })
    }
}

extension CallLadder.Rung {
    /// The moment with its message; `trunk` and `pbx` are the directions on both sides of Herald.
    fileprivate var json: JSONValue {
        let members: [String: JSONValue?] = [
            "at": JSONValue(microseconds: at), "what": .string(what), "message": label.isEmpty ? nil : .string(label),
            "trunk": JSONValue(left?.word), "pbx": JSONValue(right?.word),
        ]
        return .object(members.compactMapValues { $0 })
    }
}

extension CallLadder.Arrow {
    /// The direction as JSON spells it.
    fileprivate var word: String {
        switch self {
        case .toPBX: "to_pbx"
        case .toTrunk: "to_trunk"
        case .either: "unknown"
        }
    }
}

extension CallCard {
    fileprivate var json: JSONValue {
        let members: [String: JSONValue?] = [
            "name": .string(name.text { $0 }), "number": JSONValue(number?.text { $0 }),
            "reason": JSONValue(callReason), "logo": JSONValue(logo), "card_url": JSONValue(cardLink),
            "remark": JSONValue(remark),
        ]
        return .object(members.compactMapValues { $0 })
    }
}
