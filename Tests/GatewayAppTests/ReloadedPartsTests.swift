// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import KafkaTesting
import Logging
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

/// Parts beside the call path, each with a change that shows in a file, a request or a line.
@Suite("A reload of a running gateway", .serialized, .timeLimit(.minutes(8)))
struct ReloadedPartsTests {
    private let fixture: CallFixture
    private var text: ConfigurationText { fixture.text }

    init() async throws { fixture = try await CallFixture() }

    @Test func `another directory and key are asked at once, and the old ones no more`() async throws {
        let (old, new) = (try FaultyPeer { _, _ in .status(503) }, try FaultyPeer { _, _ in .status(503) })
        let (folder, text) = (fixture.folder, text)
        try folder.put(Array("first-key-0123456789".utf8), in: "first")
        try folder.put(Array("second-key-0123456789".utf8), in: "second")
        func directory(_ receiver: FaultyPeer, _ key: String) -> ConfigurationText {
            text.with("directory", "{url: 'http://127.0.0.1:\(receiver.port)', api_key_file: \(key)}")
        }
        let (first, second) = (directory(old, "first"), directory(new, "second"))
        try await fixture.starts.run(try fixture.starts.start(first)) { reload in
            try await fixture.until { old.requests.contains { $0.headers["x-api-key"] == "first-key-0123456789" } }
            try folder.write(second)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { new.requests.contains { $0.headers["x-api-key"] == "second-key-0123456789" } }
            let asked = old.requests.count
            try await fixture.until { new.requests.contains { $0.target.contains("/branding/sync") } }
            try folder.write(text)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { fixture.log.all.contains { $0.contains("new settings [directory: none]") } }
            #expect(old.requests.count == asked)
        }
        old.close()
        new.close()
    }

    @Test func `a key that cannot be used is refused, and the old connection goes on`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(503) }
        let (folder, text) = (fixture.folder, text)
        try folder.put(Array("first-key-0123456789".utf8), in: "first")
        try folder.put(Array("no pem".utf8), in: "roots.pem")
        let url = "http://127.0.0.1:\(receiver.port)"
        let first = text.with("directory", "{url: '\(url)', api_key_file: first}")
        let bad = text.with(
            "directory", "{url: 'https://127.0.0.1:\(receiver.port)', api_key_file: first, tls: {roots: roots.pem}}")
        try await fixture.starts.run(try fixture.starts.start(first)) { reload in
            try folder.write(bad.with("strangers", "drop"))
            let result = await reload.run()
            #expect(!result.isApplied, "\(result)")
            #expect(!fixture.log.text.contains("their new settings"))
        }
        receiver.close()
    }

    @Test func `an output of ended calls begins, changes its form and ends`() async throws {
        let pbx = try fixture.pbx()
        let (folder, text) = (fixture.folder, text)
        @Sendable func count(_ call: String, _ name: String) -> Int {
            String(decoding: folder.bytes(of: name) ?? [], as: UTF8.self).components(separatedBy: call).count - 1
        }
        try await fixture.starts.run(try fixture.starts.start(text)) { reload in
            await fixture.place("call-one", pbx)
            try folder.write(text.with("outcomes", "{cdr_file: calls.jsonl}"))
            #expect(await reload.run() == .applied(waiting: []))
            await fixture.place("call-two", pbx)
            try await fixture.until { count("call-two", "calls.jsonl") > 0 }
            try folder.write(text.with("outcomes", "{cdr_file: calls.csv, cdr_format: csv}"))
            #expect(await reload.run() == .applied(waiting: []))
            await fixture.place("call-three", pbx)
            try await fixture.until { count("call-three", "calls.csv") > 0 }
            try folder.write(text)
            #expect(await reload.run() == .applied(waiting: []))
            await fixture.place("call-four", pbx)
        }
        #expect(count("call-two", "calls.jsonl") == 1 && count("call-two", "calls.csv") == 0)
        #expect(count("call-three", "calls.csv") == 1 && count("call-three", "calls.jsonl") == 0)
        #expect(count("call-four", "calls.csv") + count("call-four", "calls.jsonl") == 0)
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: folder.path + "/state"))
        #expect(
            try reader.calls(limit: 10).map(\.sipCallID).sorted() == [
                "call-four", "call-one", "call-three", "call-two",
            ])
    }

    @Test func `calls go to a topic of Kafka while a reload has it, and the doctor finds it`() async throws {
        let pbx = try fixture.pbx()
        let (folder, text) = (fixture.folder, text)
        let cluster = try MockCluster()
        cluster.create("calls", partitions: 2)
        func kafka(_ topic: String) -> ConfigurationText {
            text.with("outcomes", "{kafka: {brokers: \(cluster.brokers), topic: \(topic)}}")
        }
        let (good, other) = (kafka("calls"), kafka("absent"))
        try await fixture.starts.run(try fixture.starts.start(text)) { reload in
            try folder.write(good)
            #expect(await reload.run() == .applied(waiting: []))
            await fixture.place("call-one", pbx)
            try await fixture.until { try cluster.records("calls", partitions: 2).count == 1 }
            let doctor = DoctorKafka(
                try HeraldConfiguration.load(path: folder.configurationPath), path: folder.configurationPath)
            #expect(
                await doctor.findings(patience: .seconds(10)) == [
                    DoctorFinding(
                        "kafka", .ok,
                        "\(cluster.brokers[0]) responds; 1 broker, topic calls with 2 partitions")
                ])
            try folder.write(other)
            let missing = DoctorKafka(
                try HeraldConfiguration.load(path: folder.configurationPath), path: folder.configurationPath)
            #expect(await missing.findings(patience: .seconds(10)).first?.text.contains("show no topic absent") == true)
            try folder.write(text)
            #expect(await reload.run() == .applied(waiting: []))
            await fixture.place("call-two", pbx)
        }
        let value = try #require(try cluster.records("calls", partitions: 2, atLeast: 1).first?.value)
        #expect(value.contains("\"sip_call_id\":\"call-one\"") && !value.contains("\n"))
        #expect(try cluster.records("calls", partitions: 2, atLeast: 1).count == 1)
    }

    @Test func `new transactions have the new timers, and those in progress keep theirs`() async throws {
        let pbx = try fixture.pbx()
        let (folder, text) = (fixture.folder, text)
        let slow = text.with("timers", "{t1: 5s, t2: 5s}")
        try await fixture.starts.run(try fixture.starts.start(slow)) { reload in
            fixture.send("INVITE", "slow-call")
            #expect(await pbx.receive().contains("Call-ID: slow-call"))
            try folder.write(text.with("timers", "{t1: 20ms, t2: 5s}"))
            #expect(await reload.run() == .applied(waiting: []))
            fixture.send("INVITE", "quick-call")
            // The PBX is silent: the second call is repeated before the first one.
            for _ in 0..<3 { #expect(await pbx.receive().contains("Call-ID: quick-call")) }
        }
    }

    @Test func `the log has the new level from the next line on`() async throws {
        let start = try fixture.starts.start(text)
        let (folder, text) = (fixture.folder, text)
        let logger = Logger(label: "part") { start.log.handler($0) }
        try await fixture.starts.run(start) { reload in
            logger.debug("before")
            try folder.write(text.with("log", "{level: debug, format: json}"))
            #expect(await reload.run() == .applied(waiting: []))
            logger.debug("after")
            #expect(logger.logLevel == .debug && start.log.settings.format == .json)
        }
        #expect(!start.log.recent.lines.contains { $0.contains("before") })
        #expect(start.log.recent.lines.contains { $0.contains("debug part: after") })
    }

    @Test func `a level that a logger was given stays its own`() {
        let output = LogOutput(.init())
        var logger = Logger(label: "quiet") { output.handler($0) }
        logger.logLevel = .error
        var settings = output.settings
        settings.level = .trace
        output.use(settings)
        #expect(logger.logLevel == .error)
        #expect(Logger(label: "other") { output.handler($0) }.logLevel == .trace)
    }
}

@Suite("The status line for systemd")
struct StatusLineTests {
    @Test(arguments: [
        (StatusLine(), "0 calls in progress, 0 branded numbers"),
        (StatusLine(calls: 1, numbers: 1200, syncAge: 59), "1 call in progress, 1200 branded numbers, in sync"),
        (
            StatusLine(calls: 3, numbers: 5, syncAge: 121, isDraining: true),
            "draining: 3 calls in progress, 5 branded numbers, last sync 2 min ago"
        ),
    ])
    func `it has calls, numbers and the age of the last sync in minutes`(line: StatusLine, text: String) {
        #expect(line.text == text)
    }
}
