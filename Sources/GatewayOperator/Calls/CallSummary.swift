// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import GatewayStore
import Primitives

/// Numbers of calls by decision, by reason and by outcome, with the first and the last INVITE of each.
struct CallSummary {
    /// The calls of one value.
    struct Line {
        let value: String
        let count: CallCounts.Count
    }

    /// With a brand, without, from a PBX.
    let decisions: [Line]
    /// The reasons of calls without a brand, the most frequent first.
    let reasons: [Line]
    /// The most frequent first.
    let outcomes: [Line]
    /// Calls in shadow by the brand that each would have shown, the most frequent first.
    let inShadow: [Line]
    let total: CallCounts.Count?
    private let since: Int64?
    private let readSince: Int64?
    private let zone: LocalZone

    /// - Parameter since: the begin of the filter, in seconds since 1970; nil for none.
    init(_ counts: CallCounts, since: Int64?, zone: LocalZone) {
        func lines(_ value: (CallCounts.Kind) -> String?) -> [Line] {
            var sums: [String: CallCounts.Count] = [:]
            for (kind, count) in counts.counts {
                guard let value = value(kind) else { continue }
                if sums[value]?.add(count) == nil { sums[value] = count }
            }
            return sums.map { Line(value: $0, count: $1) }
                .sorted { ($1.count.calls, $0.value) < ($0.count.calls, $1.value) }
        }
        decisions = lines { Self.decision($0.decision) }
        reasons = lines { Self.decision($0.decision) == "unbranded" ? $0.decision : nil }
        outcomes = lines { $0.outcome ?? "open" }
        inShadow = lines { kind in
            kind.decision == PassThroughReason.shadow.description ? kind.brandInShadow ?? "signed values" : nil
        }
        total = lines { _ in "calls" }.first?.count
        (self.since, self.zone, readSince) = (since, zone, counts.rest?.readSince)
    }

    /// The value of `decision` that selects the calls.
    private static func decision(_ stored: String) -> String {
        switch stored {
        case "matched": "branded"
        case "outbound": "outbound"
        default: "unbranded"
        }
    }

    /// The groups with the options that select their calls; the calls in shadow are those of a reason by their brand.
    private var groups: [(name: String, lines: [Line])] {
        func lower(_ lines: [Line]) -> [Line] { lines.map { Line(value: $0.value.lowercased(), count: $0.count) } }
        return [
            ("decision", lower(decisions)), ("reason", lower(reasons)), ("outcome", lower(outcomes)),
            ("shadow", inShadow),
        ]
    }

    /// The share of trunks' calls that would have had a brand; empty without a call in shadow.
    private var shadowText: String {
        let calls = inShadow.map(\.count.calls).reduce(0, +)
        guard calls > 0 else { return "" }
        let ofTrunks = decisions.filter { $0.value != "outbound" }.map(\.count.calls).reduce(0, +)
        return """

            \(calls) of \(ofTrunks) calls of trunks (\(Self.share(calls, of: ofTrunks))) would have a brand, but are in shadow:
            herald calls --decision shadow

            """
    }

    /// The summary for a terminal.
    var text: String {
        let begin = since.map { " since \(zone.withUTC($0))" } ?? ""
        guard let total else { return "no calls\(begin)\n" }
        var table = TextTable(["BY", "VALUE", "CALLS", "SHARE", "FIRST", "LAST"], .narrow, whole: ["VALUE"])
        for group in groups {
            for (place, line) in group.lines.enumerated() {
                let count = line.count
                table.add([
                    place == 0 ? group.name : " ", line.value, "\(count.calls)",
                    Self.share(count.calls, of: total.calls), time(count.first), time(count.last),
                ])
            }
        }
        return "\(total.calls) \(total.calls == 1 ? "call" : "calls")\(begin), times in \(zoneName)\n\n" + table.text
            + shadowText
    }

    /// The summary for `--json` and the control socket; times are UTC.
    var json: [String: JSONValue?] {
        var json: [String: JSONValue?] = [
            "calls": .int(total?.calls ?? 0), "since": JSONValue(seconds: since),
            "read_since": JSONValue(seconds: readSince),
        ]
        for group in groups {
            let lines = group.lines.map { line in
                let members: [String: JSONValue?] = [
                    "value": .string(line.value), "calls": .int(line.count.calls),
                    "first": JSONValue(microseconds: line.count.first),
                    "last": JSONValue(microseconds: line.count.last),
                ]
                return JSONValue.object(members.compactMapValues { $0 })
            }
            json[group.name] = .some(.array(lines))
        }
        return json
    }

    /// The zone of the last call, with UTC beside it.
    private var zoneName: String {
        guard let last = total?.last else { return "UTC" }
        let (name, moment) = (zone.name(at: last / 1_000_000), zone.timestamp(last / 1_000_000))
        return zone.isUTC(at: last / 1_000_000) || name.hasPrefix("UTC") ? name : "\(name) (UTC\(moment.suffix(6)))"
    }

    /// The minute; `json` has the second.
    private func time(_ microseconds: Int64) -> String { String(zone.wall(microseconds / 1_000_000).prefix(16)) }

    /// A share with one digit behind the point, so that rare values are no zero.
    private static func share(_ part: Int, of all: Int) -> String {
        let tenths = (part * 1_000 + all / 2) / all
        return "\(tenths / 10).\(tenths % 10) %"
    }
}
