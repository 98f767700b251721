// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import Logging
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Calls on the control socket", .timeLimit(.minutes(8)))
struct CallRoutesTests {
    /// Runs the socket of a gateway with the calls of a source.
    private static func run(
        _ source: FixedPages, _ body: @escaping @Sendable (ControlClient) async throws -> Void
    ) async throws {
        // A short path: the path of a socket has 107 bytes.
        let folder = "/tmp/herald-calls-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (opened, announced) = AsyncStream.makeStream(of: Void.self)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = ControlServer(
            folder: folder, control: ScriptedGateway(ControlTests.results[0]), calls: source, logger: logger
        ) { announced.yield() }
        let services = RunningServices([server], logger: logger) { announced.finish() }
        try await services.stop(after: {
            var iterator = opened.makeAsyncIterator()
            _ = try #require(await iterator.next(), "the server ended before it listened")
            try await body(ControlClient(folder: folder))
        })
    }

    private static func lines(
        _ client: ControlClient, _ query: KeyValuePairs<String, String?>
    ) async throws -> [String] {
        let kept = Kept()
        try await client.lines(of: "/v1/calls", query: query) { line in kept.lines.withLock { $0.append(line) } }
        return kept.lines.withLock { $0 }
    }

    private final class Kept: Sendable {
        let lines = Mutex<[String]>([])
    }

    @Test func `calls come as JSON Lines or CSV, with the filter of the page`() async throws {
        var content = FixedPages.Content()
        content.calls = [GatewayPagesTests.call(.number(61_255_501_001)), GatewayPagesTests.call(.withheld)]
        let source = FixedPages(content)
        try await Self.run(source) { client in
            let json = try await Self.lines(client, ["decision": "branded", "since": "2026-01-31T12:00:00+02:00"])
            #expect(json.count == 2 && json[0].contains("\"caller\":\"+61255501001\""), "\(json)")
            let one = try await Self.lines(client, ["limit": "1", "brand": "Acme & Söhne"])
            #expect(one.count == 1)
            let csv = try await Self.lines(client, ["format": "csv"])
            #expect(csv.count == 3 && csv[0].hasPrefix("call_id,"), "\(csv)")
        }
        #expect(source.searches[0].decisions == ["matched"] && source.searches[0].since == 1_769_853_600)
        #expect(source.searches[1].brand == "Acme & Söhne")
    }

    @Test func `a summary has counts`() async throws {
        var content = FixedPages.Content()
        let kind = CallCounts.Kind(decision: "no_match", outcome: "MISSED")
        content.counts = CallCounts(counts: [kind: .init(calls: 3, first: 1_000_000, last: 2_000_000)])
        struct Summary: Decodable, Sendable {
            struct Line: Decodable, Equatable, Sendable {
                let value: String
                let calls: Int
            }
            let calls: Int
            let decision: [Line]
            let reason: [Line]
            let outcome: [Line]
        }
        try await Self.run(FixedPages(content)) { client in
            let summary: Summary = try await client.get("/v1/calls/summary", query: ["since": "1h"])
            #expect(summary.calls == 3 && summary.decision == [.init(value: "unbranded", calls: 3)])
            #expect(summary.reason == [.init(value: "no_match", calls: 3)])
            #expect(summary.outcome == [.init(value: "missed", calls: 3)])
        }
    }

    @Test(arguments: [
        ("outcome", "mised", "outcome \"mised\" is unknown; did you mean \"missed\"?"),
        ("since", "yesterdya", "since \"yesterdya\" is no time; did you mean \"yesterday\"?"),
        ("desicion", "branded", "the parameter \"desicion\" is unknown; did you mean \"decision\"?"),
        ("trunk", "carier", "trunk \"carier\" selects no call: no trunk has this name; did you mean \"carrier\"?"),
        ("format", "xml", "format \"xml\" is unknown; give json or csv"),
        ("limit", "0", "limit \"0\" is no number of calls"),
        ("limit", "9223372036854775808", "is no number of calls"),
        ("%1B%5B2J", "1", "is unknown"),
    ])
    func `a wrong parameter is refused with what is accepted`(name: String, value: String, problem: String) async throws
    {
        try await Self.run(FixedPages()) { client in
            let failure = await #expect(throws: ControlFailure.self) {
                try await client.lines(of: "/v1/calls", query: [name: value]) { _ in }
            }
            #expect(failure?.description.contains(problem) == true, "\(failure?.description ?? "")")
        }
    }
}
