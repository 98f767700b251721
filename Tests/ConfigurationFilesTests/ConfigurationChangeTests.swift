// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("Changes between two configuration files")
struct ConfigurationChangeTests {
    /// A change as `path: old > new`, with the elements of a list.
    private static func line(_ change: ConfigurationChange) -> String {
        var line = "\(change.path): \(change.old ?? "-") > \(change.new ?? "-")"
        for element in change.removed { line += " -\(element)" }
        for element in change.added { line += " +\(element)" }
        return change.isContent ? line + " (content)" : line
    }

    private func changes(_ old: String, _ new: String) throws -> [String] {
        let folder = TemporaryFolder()
        let (before, after) = (try folder.load(smallest + old), try folder.load(smallest + new))
        return after.values.changes(from: before.values).map(Self.line)
    }

    static let rows: [(old: String, new: String, changes: [String])] = [
        ("", "", []),
        ("", "strangers: drop", ["strangers: - > drop"]),
        ("strangers: drop", "", ["strangers: drop > -"]),
        ("strangers: drop", "strangers: refuse", ["strangers: drop > refuse"]),
        // The form of a text and a comment are no change.
        ("strangers: drop", "strangers: \"drop\"   # scanners", []),
        ("health: {interval: 5s, timeout: 1s}", "health:\n  timeout: 1s\n  interval: 7s", ["health.interval: 5s > 7s"]),
        ("dns: {servers: 192.0.2.53}", "dns: {servers: [192.0.2.53]}", []),
        (
            "dns: {servers: [192.0.2.53, 192.0.2.54]}", "dns: {servers: [192.0.2.54, 192.0.2.55]}",
            ["dns.servers: [192.0.2.53, 192.0.2.54] > [192.0.2.54, 192.0.2.55] -192.0.2.53 +192.0.2.55"]
        ),
        // The order of a list counts.
        (
            "dns: {servers: [192.0.2.53, 192.0.2.54]}", "dns: {servers: [192.0.2.54, 192.0.2.53]}",
            ["dns.servers: [192.0.2.53, 192.0.2.54] > [192.0.2.54, 192.0.2.53]"]
        ),
        // A group before another one does not make that look changed.
        (
            "outcomes: {subscribers: [{name: b, members: [1001]}]}",
            "outcomes: {subscribers: [{name: a, members: [1002]}, {name: b, members: [1001, 1003]}]}",
            [
                "outcomes.subscribers: [b] > [a, b] +a", "outcomes.subscribers[a].name: - > a",
                "outcomes.subscribers[a].members: - > [1002]",
                "outcomes.subscribers[b].members: [1001] > [1001, 1003] +1003",
            ]
        ),
    ]

    @Test(arguments: rows)
    func `each setting has its path, the old value and the new one`(
        row: (old: String, new: String, changes: [String])
    ) throws {
        #expect(try changes(row.old, row.new) == row.changes)
    }

    @Test func `entries without a name have their address or their number`() throws {
        let folder = TemporaryFolder()
        let old = """
            listen: [{address: 192.0.2.10:5060}]
            trunks: [{name: a, sources: [203.0.113.5]}]
            pbx: [{name: p, targets: [{address: 192.0.2.20:5060, weight: 1}, {address: 192.0.2.21:5060}]}]
            """
        let before = try folder.load(old)
        let after = try folder.load(old.replacing("weight: 1", with: "weight: 3"))
        #expect(
            after.values.changes(from: before.values).map(Self.line)
                == ["pbx[p].targets[192.0.2.20:5060].weight: 1 > 3"])
    }

    @Test func `a key under the same name is a change without a text of it`() throws {
        let folder = TemporaryFolder()
        let text = smallest + "directory: {url: 'https://d.example', api_key_file: key}"
        func load(_ key: String) throws -> HeraldConfiguration {
            let path = try folder.write(key, to: "key")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            return try folder.load(text)
        }
        // Hashes that take the first bytes alone would miss it.
        let long = String(repeating: "k", count: 200)
        let (before, after) = (try load(long + "-old-secret\n"), try load(long + "-new-secret\n"))
        let changes = after.values.changes(from: before.values)
        #expect(changes.map(Self.line) == ["directory.api_key_file: key > key (content)"])
        #expect(!"\(changes)\(after.values)".contains("secret"))
        #expect(try load(long + "-new-secret\n").values.changes(from: after.values).isEmpty)
    }

    @Test func `a list of numbers with another line is a change of its route`() throws {
        let folder = TemporaryFolder()
        let text = smallest + "routes: {table: [{name: acme, list: dids.csv}]}"
        try folder.write("+61255501001\n", to: "dids.csv")
        let before = try folder.load(text)
        try folder.write("+61255501001\n+61255501002\n", to: "dids.csv")
        #expect(
            try folder.load(text).values.changes(from: before.values).map(Self.line)
                == ["routes.table[acme].list: dids.csv > dids.csv (content)"])
    }

    @Test func `a command without secrets sees no change of them`() throws {
        let folder = TemporaryFolder()
        let text = smallest + "directory: {url: 'https://d.example', api_key_file: key}"
        try folder.write("one\n", to: "key")
        let before = try folder.load(text, secrets: .ignored)
        try folder.write("two\n", to: "key")
        #expect(try folder.load(text, secrets: .ignored).values.changes(from: before.values).isEmpty)
    }

    @Test(arguments: [
        ("https://user:pass@crm.example.com/a?token=abc", "https://<redacted>@crm.example.com/a?token=<redacted>"),
        ("postgres://herald:pass@db/herald?sslmode=require", "postgres://herald:<redacted>@db/herald?sslmode=require"),
        ("https://crm.example.com/calls", "https://crm.example.com/calls"), ("plain text", "plain text"),
    ])
    func `a URL is shown without its user and the values of its query`(text: String, shown: String) {
        let change = ConfigurationChange(
            "directory.url", from: nil, to: .init(elements: [text], isList: false))
        #expect(change.new == shown)
    }

    @Test(arguments: [
        ("https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/<redacted>"),
        ("https://user:pass@crm.example.com?token=abc", "https://<redacted>@crm.example.com/<redacted>"),
        ("https://crm.example.com/", "https://crm.example.com/"),
    ])
    func `the URL of a webhook is shown without its path`(text: String, shown: String) {
        let change = ConfigurationChange(
            "outcomes.webhook.url", from: nil, to: .init(elements: [text], isList: false))
        #expect(change.new == shown)
    }

    @Test func `the value of a key for a secret is never shown`() {
        let change = ConfigurationChange(
            "directory.api_key", from: .init(elements: ["k1"], isList: false),
            to: .init(elements: ["k2", "k3"], isList: true))
        #expect(change.old == "<redacted>" && change.new == "[<redacted>, <redacted>]")
        #expect(change.added == ["<redacted>", "<redacted>"] && change.removed == ["<redacted>"])
    }
}
