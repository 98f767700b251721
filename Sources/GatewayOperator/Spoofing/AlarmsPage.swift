// SPDX-License-Identifier: Apache-2.0

import Primitives
import WebPages

/// The values of the page of alarms.
struct AlarmsValues: Sendable {
    struct Line: Sendable {
        let day: String
        let brand: String
        let customer: String?
        let kind: String
        let text: String
        let usual: String
        let numbers: String
        let span: String
        let calls: [Call]
    }

    /// One of the calls of an alarm.
    struct Call: Sendable {
        let path: String
        let id: String
    }

    let lines: [Line]
    let hasLines: Bool
    let readAt: String?
    let problem: String?
}

extension GatewayPages {
    /// The alarms of today and yesterday, as the gateway read them last.
    func alarms(_ page: PageRequest) -> PageResult {
        let standing = source.alarms
        let lines = standing.alarms.map { alarm in
            AlarmsValues.Line(
                day: OperatorTime.day(alarm.day), brand: alarm.brand, customer: alarm.customer,
                kind: alarm.kind.rawValue, text: alarm.sentence, usual: alarm.usual.joined(separator: ", "),
                numbers: alarm.numbers.map { shown($0, page) }.joined(separator: ", "),
                span: "\(zone.text(alarm.firstAt / 1_000_000)) to \(zone.text(alarm.lastAt / 1_000_000))",
                calls: alarm.examples.map { AlarmsValues.Call(path: "/calls/\(PagePath.encoded($0))", id: $0) })
        }
        let values = AlarmsValues(
            lines: lines, hasLines: !lines.isEmpty, readAt: standing.readAt.map(zone.text), problem: standing.problem)
        return .page(template: "alarms", title: "Alarms of spoofed numbers", content: values)
    }
}
