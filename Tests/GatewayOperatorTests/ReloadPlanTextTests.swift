// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

@Suite("The text of a reload's plan")
struct ReloadPlanTextTests {
    private typealias Change = ControlledReloadPlan.Change

    @Test func `a setting is a line, and lists have their elements`() {
        let plan = ControlledReloadPlan(
            applies: true,
            changes: [
                Change(path: "strangers", old: nil, new: "drop"),
                Change(path: "gateway.workers", old: "1", new: "2", needsRestart: true),
                Change(
                    path: "trunks[carrier].sources", old: "[203.0.113.5]", new: "[203.0.113.6]", added: ["203.0.113.6"],
                    removed: ["203.0.113.5"]),
                Change(path: "directory.api_key_file", old: "key", new: "key", isContent: true),
                Change(path: "dns.servers", old: "[a, b]", new: "[b, a]"),
                Change(path: "outcomes.webhook.url", old: "https://a/?<redacted>", new: "https://a/?<redacted>"),
            ], waiting: ["gateway.id"])
        #expect(
            plan.text == """
                strangers: not set → drop
                gateway.workers: 1 → 2  (needs a restart)
                trunks[carrier].sources:
                  - 203.0.113.5
                  + 203.0.113.6
                directory.api_key_file: the file has another content
                dns.servers: [a, b] → [b, a]
                outcomes.webhook.url: another value
                gateway.id: another value, needs a restart
                5 settings change with a reload, 2 need a restart; nothing was changed

                """)
    }

    @Test func `a long line becomes three`() {
        let (old, new) = (String(repeating: "a", count: 40), String(repeating: "b", count: 40))
        let plan = ControlledReloadPlan(applies: true, changes: [Change(path: "admin.token_file", old: old, new: new)])
        #expect(plan.text.hasPrefix("admin.token_file:\n  - \(old)\n  + \(new)\n1 setting changes with a reload"))
    }

    @Test func `hostile bytes of a file reach no terminal`() {
        let plan = ControlledReloadPlan(
            applies: true,
            changes: [
                Change(path: "a\u{1B}[2Jb", old: "x\u{07}", new: "y\u{202E}"),
                Change(path: "l", old: "[]", new: "[\u{1B}c]", added: ["\u{1B}c"]),
            ], waiting: ["w\u{9B}1m"])
        let text = plan.text
        #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{07}", "\u{202E}", "\u{9B}"].contains($0) })
    }

    @Test func `without a change the text says so, and a refused file has no sum`() {
        #expect(
            ControlledReloadPlan(applies: true, changes: []).text
                == "nothing would change: the configuration in force is that of the file\n")
        #expect(ControlledReloadPlan(applies: false, problem: "herald.yaml:1: bad", changes: []).text.isEmpty)
    }
}
