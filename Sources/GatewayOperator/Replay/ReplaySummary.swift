// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallPath
import GatewayStore
import Primitives

/// Numbers of replayed calls: by change, and by the reason why calls cannot be decided again.
package struct ReplaySummary: Sendable {
    /// Calls that were read, without those that two ledgers have.
    package fileprivate(set) var calls = 0
    /// Calls that several of the ledgers have; each was decided once.
    private(set) var repeated = 0
    private(set) var groups: [ReplayedChange.Group: Int] = [:]
    /// Ledgers and rows that could not be read.
    package private(set) var lost: [String] = []

    /// Calls that would change.
    package var changed: Int { groups.reduce(0) { $0 + ($1.key.kind == .undecided ? 0 : $1.value) } }
    /// Calls whose recorded decision stays because inputs are not recorded.
    package var undecided: Int { groups.reduce(0) { $0 + ($1.key.kind == .undecided ? $1.value : 0) } }

    mutating func count(_ change: ReplayedChange?) {
        calls += 1
        if let change { groups[change.group, default: 0] += 1 }
    }

    mutating func countRepeated() { repeated += 1 }

    /// Adds a ledger that could not be opened.
    mutating func lose(_ ledger: String) { lost.append(ledger) }

    /// Adds rows of a ledger that could not be read.
    mutating func lose(_ rows: [LostRows], of path: String) {
        for lost in rows {
            let range = "rows \(lost.rows.lowerBound) to \(lost.rows.upperBound)"
            self.lost.append("\(path) is damaged: \(range) cannot be read (\(lost.reason)); the rest is replayed")
        }
    }
}

extension ReplaySummary {
    private var changes: [(group: ReplayedChange.Group, calls: Int)] {
        groups.filter { $0.key.kind != .undecided }.map { ($0.key, $0.value) }
            .sorted {
                ($1.calls, $0.group.kind.rawValue, $0.group.before, $0.group.after)
                    < ($0.calls, $1.group.kind.rawValue, $1.group.before, $1.group.after)
            }
    }

    /// The reasons why calls cannot be decided again, the most frequent first.
    private var reasons: [(cause: UndecidedCause, calls: Int)] {
        groups.reduce(into: [UndecidedCause: Int]()) { sums, group in
            if let cause = group.key.undecided { sums[cause, default: 0] += group.value }
        }
        .map { ($0.key, $0.value) }.sorted { ($1.calls, $0.cause.rawValue) < ($0.calls, $1.cause.rawValue) }
    }

    /// The summary for a terminal.
    var text: String {
        let repetition = repeated > 0 ? "; \(repeated) are in two ledgers and count once" : ""
        var text =
            "\(Self.calls(calls)) decided again: \(changed) would change, \(undecided) cannot be decided again"
            + repetition + "\n"
        if !changes.isEmpty {
            var table = TextTable(
                ["CHANGE", "BEFORE", "AFTER", "CAUSE", "CALLS"], .narrow, whole: ["BEFORE", "AFTER"])
            for (group, calls) in changes {
                table.add([group.kind.text, group.before, group.after, group.cause?.text, "\(calls)"])
            }
            text += "\n" + table.text
        }
        if !reasons.isEmpty {
            text += "\ncannot be decided again, so the recorded decision stays:\n"
            for (cause, calls) in reasons { text += "  \(calls)  \(cause.text)\n" }
        }
        return text
    }

    private static func calls(_ count: Int) -> String { count == 1 ? "1 call" : "\(count) calls" }

    /// The last line of `--json`.
    var json: [String: JSONValue?] {
        let changes = changes.map { group, calls in
            JSONValue.object([
                "change": .string(group.kind.rawValue), "decision": .string(group.before),
                "new_decision": .string(group.after), "cause": .string(group.cause?.rawValue ?? ""),
                "calls": .int(calls),
            ])
        }
        let reasons = reasons.map { cause, calls in
            JSONValue.object(["cause": .string(cause.rawValue), "calls": .int(calls)])
        }
        return [
            "summary": .object([
                "calls": .int(calls), "changed": .int(changed), "undecided": .int(undecided),
                "repeated": .int(repeated), "changes": .array(changes), "undecided_by": .array(reasons),
                "lost": .array(lost.map { .string($0) }),
            ])
        ]
    }
}
