// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import Logging
import TestFixtures
import Testing

@testable import GatewayApp

/// Parts beside the call path, each with a change that shows in a file, a request or a line.
@Suite("A reload of a running gateway", .serialized, .timeLimit(.minutes(8)))
struct ReloadedPartsTests {
    private let fixture: StartFixture
    private let trunk: UDPPeer
    private let trunkAddress: String
    private let pbxAddress: String
    private let text: ConfigurationText

    init() async throws {
        fixture = try await StartFixture()
        trunkAddress = fixture.folder.address.replacing("127.84.", with: "127.88.")
        pbxAddress = fixture.folder.address.replacing("127.84.", with: "127.89.")
        trunk = try UDPPeer(trunkAddress, port: 5060)
        text = fixture.folder.sections.with(
            "trunks", "[{name: carrier, sources: [\(trunkAddress)], next_hop: '\(trunkAddress):5060', trusted: true}]"
        )
        .with("pbx", "[{name: office, address: '\(pbxAddress):5060', probe: false}]")
    }

    private func until(_ isTrue: () -> Bool) async throws {
        while !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// An INVITE of the trunk.
    private func invite(_ call: String) -> String {
        [
            "INVITE sip:1001@\(fixture.folder.address) SIP/2.0",
            "Via: SIP/2.0/UDP \(trunkAddress):5060;branch=z9hG4bK\(call)",
            "From: <sip:+61255501001@carrier.example>;tag=a", "To: <sip:1001@\(fixture.folder.address)>",
            "Call-ID: \(call)", "CSeq: 1 INVITE", "Max-Forwards: 70", "Content-Length: 0", "", "",
        ].joined(separator: "\r\n")
    }

    /// A call that the PBX rejects.
    private func place(_ call: String, _ pbx: UDPPeer) async {
        let gateway = fixture.folder.address
        trunk.send(invite(call), to: gateway)
        var invite = await pbx.receive()
        while !invite.contains("Call-ID: \(call)\r") || !invite.hasPrefix("INVITE ") { invite = await pbx.receive() }
        let copied = invite.components(separatedBy: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
        }
        let busy = (["SIP/2.0 486 Busy Here"] + copied + ["Content-Length: 0", "", ""]).joined(separator: "\r\n")
        pbx.send(
            busy.replacing("To: <sip:1001@\(gateway)>", with: "To: <sip:1001@\(gateway)>;tag=b"), to: gateway)
        var response = await trunk.receive()
        while !response.hasPrefix("SIP/2.0 486") { response = await trunk.receive() }
    }

    @Test func `another directory and key are asked at once, and the old ones no more`() async throws {
        let (old, new) = (try FaultyPeer { _, _ in .status(503) }, try FaultyPeer { _, _ in .status(503) })
        let (folder, text) = (fixture.folder, text)
        try folder.put(Array("first-key-0123456789".utf8), in: "first")
        try folder.put(Array("second-key-0123456789".utf8), in: "second")
        func directory(_ receiver: FaultyPeer, _ key: String) -> ConfigurationText {
            text.with("directory", "{url: 'http://127.0.0.1:\(receiver.port)', api_key_file: \(key)}")
        }
        let (first, second) = (directory(old, "first"), directory(new, "second"))
        try await fixture.run(try fixture.start(first)) { reload in
            try await until { old.requests.contains { $0.headers["x-api-key"] == "first-key-0123456789" } }
            try folder.write(second)
            #expect(await reload.run() == .applied(waiting: []))
            try await until { new.requests.contains { $0.headers["x-api-key"] == "second-key-0123456789" } }
            let asked = old.requests.count
            try await until { new.requests.contains { $0.target.contains("/branding/sync") } }
            try folder.write(text)
            #expect(await reload.run() == .applied(waiting: []))
            try await until { fixture.log.all.contains { $0.contains("new settings [directory: none]") } }
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
        try await fixture.run(try fixture.start(first)) { reload in
            try folder.write(bad.with("strangers", "drop"))
            let result = await reload.run()
            #expect(!result.isApplied, "\(result)")
            #expect(!fixture.log.text.contains("their new settings"))
        }
        receiver.close()
    }

    @Test func `an output of ended calls begins, changes its form and ends`() async throws {
        let pbx = try UDPPeer(pbxAddress, port: 5060)
        let (folder, text) = (fixture.folder, text)
        @Sendable func count(_ call: String, _ name: String) -> Int {
            String(decoding: folder.bytes(of: name) ?? [], as: UTF8.self).components(separatedBy: call).count - 1
        }
        try await fixture.run(try fixture.start(text)) { reload in
            await place("call-one", pbx)
            try folder.write(text.with("outcomes", "{cdr_file: calls.jsonl}"))
            #expect(await reload.run() == .applied(waiting: []))
            await place("call-two", pbx)
            try await until { count("call-two", "calls.jsonl") > 0 }
            try folder.write(text.with("outcomes", "{cdr_file: calls.csv, cdr_format: csv}"))
            #expect(await reload.run() == .applied(waiting: []))
            await place("call-three", pbx)
            try await until { count("call-three", "calls.csv") > 0 }
            try folder.write(text)
            #expect(await reload.run() == .applied(waiting: []))
            await place("call-four", pbx)
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

    @Test func `new transactions have the new timers, and those in progress keep theirs`() async throws {
        let pbx = try UDPPeer(pbxAddress, port: 5060)
        let (folder, text) = (fixture.folder, text)
        let slow = text.with("timers", "{t1: 5s, t2: 5s}")
        try await fixture.run(try fixture.start(slow)) { [self] reload in
            trunk.send(invite("slow-call"), to: folder.address)
            #expect(await pbx.receive().contains("Call-ID: slow-call"))
            try folder.write(text.with("timers", "{t1: 20ms, t2: 5s}"))
            #expect(await reload.run() == .applied(waiting: []))
            trunk.send(invite("quick-call"), to: folder.address)
            // The PBX is silent: the second call is repeated before the first one.
            for _ in 0..<3 { #expect(await pbx.receive().contains("Call-ID: quick-call")) }
        }
    }

    @Test func `the log has the new level from the next line on`() async throws {
        let start = try fixture.start(text)
        let (folder, text) = (fixture.folder, text)
        let logger = Logger(label: "part") { start.log.handler($0) }
        try await fixture.run(start) { reload in
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
