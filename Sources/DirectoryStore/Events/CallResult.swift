// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// The end of a call, as a person who pays for brands counts it.
package enum CallResult: String, Hashable, Sendable, CaseIterable {
    /// A person, a queue or a menu picked up.
    case answered
    /// Nobody picked up, the line was busy, or voicemail took the call.
    case missed
    /// The called person called back.
    case returned

    /// The outcomes that gateways and phones report for a return call.
    static let returnOutcomes: Set = ["returned", "call_returned"]
    private static let missedOutcomes: Set = ["missed", "call_missed"]
    private static let answeredOutcomes: Set = ["answered", "call_answered"]

    /// The result that an event reports; nil for one that is not the end of a call, and for other ends.
    ///
    /// `displayed` is never the end. Sent late, it can have the `call_outcome` of a call whose end has an event of its own.
    init?(_ event: EventRequest) {
        if event.outcome == "displayed" { return nil }
        if Self.returnOutcomes.contains(event.outcome) {
            self = .returned
        } else if Self.missedOutcomes.contains(event.outcome) {
            self = .missed
        } else if Self.answeredOutcomes.contains(event.outcome) {
            self = .answered
        } else {
            switch Self.callOutcome(event) {
            case "ANSWERED": self = .answered
            case "MISSED", "BUSY": self = .missed
            default: return nil
            }
        }
    }

    /// The texts of `call_outcome` that the contract's gateways send, each in plain words.
    package static let callOutcomes: KeyValuePairs = [
        "ANSWERED": "answered", "MISSED": "missed", "BUSY": "busy", "REJECTED": "declined",
        "ANSWERED_ELSEWHERE": "answered at another phone", "DECLINED_ELSEWHERE": "declined at another phone",
        "BLOCKED": "blocked by the network", "FAILED": "failed",
    ]

    /// `call_outcome` of an event's `meta`; nil without one, and for a text that is no term.
    static func callOutcome(_ event: EventRequest) -> String? { callOutcome(event.meta) }

    /// The same of a stored `meta`.
    package static func callOutcome(_ meta: [String: JSONValue]?) -> String? {
        guard case .string(let text) = meta?["call_outcome"], (1...32).contains(text.utf8.count),
            text.utf8.allSatisfy({ (65...90).contains($0 & 0xDF) || $0 == UInt8(ascii: "_") })
        else { return nil }
        return text.uppercased()
    }
}
