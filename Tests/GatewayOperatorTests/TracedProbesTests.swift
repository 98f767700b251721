// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

@Suite("Health checks in a trace")
struct TracedProbesTests {
    private typealias Example = TraceExamples

    private static func message(_ summary: String, _ method: String, callID: String, lost: Int = 0) -> TraceLine {
        let isRequest = summary == method
        let first = isRequest ? "\(method) sip:192.0.2.10 SIP/2.0" : "SIP/2.0 \(summary)"
        let text = "\(first)\r\nCall-ID: \(callID)\r\nCSeq: 1 \(method)\r\nX: CSeq: 2 INVITE\r\n\r\n"
        var line = Example.line(.message(Example.message(summary, text: text)), callID: callID)
        line.lost = lost
        return line
    }

    private static func summaries(_ lines: [TraceLine]) -> [String] {
        var probes = TracedProbes()
        return lines.compactMap { probes.shown($0) }.map { line in
            guard case .message(let message) = line.event else { return "\(line.event)" }
            return message.summary
        }
    }

    /// RFC 3261 §11: OPTIONS asks for capabilities, and peers use it as a health check.
    @Test func `a health check and its response are left out`() {
        #expect(
            Self.summaries([
                Self.message("OPTIONS", "OPTIONS", callID: "check"), Self.message("INVITE", "INVITE", callID: "call"),
                Self.message("200 OK", "OPTIONS", callID: "check"), Self.message("200 OK", "INVITE", callID: "call"),
            ]) == ["INVITE", "200 OK"])
    }

    /// RFC 3261 §11.1: an OPTIONS may be part of a dialog.
    @Test func `an OPTIONS within a call is part of it`() {
        let call = ["INVITE", "200 OK"].map { Self.message($0, "INVITE", callID: "call") }
        let inside = ["OPTIONS", "200 OK"].map { Self.message($0, "OPTIONS", callID: "call") }
        #expect(Self.summaries(call + inside) == ["INVITE", "200 OK", "OPTIONS", "200 OK"])
    }

    /// RFC 3261 §12.2: a request within a dialog has the tag of the far end in To; a trace may begin within a call.
    @Test(arguments: [
        ("To: <sip:a@192.0.2.1>;tag=8f", true), ("t: \"A <b>\" <sip:a@192.0.2.1>; x ; TAG = 8f", true),
        ("To: sip:a@192.0.2.1;tag=8f", true), ("To: <sip:a@192.0.2.1>", false), ("To: <sip:a@192.0.2.1;tag=8f>", false),
        ("To: <sip:a@192.0.2.1>;tagged=8f", false), ("X-To: <sip:a@192.0.2.1>;tag=8f", false),
    ]) func `an OPTIONS with a tag in To is within a dialog`(to: String, isShown: Bool) {
        let text = "OPTIONS sip:192.0.2.10 SIP/2.0\r\n\(to)\r\nCall-ID: a\r\nCSeq: 1 OPTIONS\r\n\r\n"
        let options = Example.line(.message(Example.message("OPTIONS", text: text)), callID: "a")
        let response = Self.message("200 OK", "OPTIONS", callID: "a")
        #expect(Self.summaries([options, response]) == (isShown ? ["OPTIONS", "200 OK"] : []))
    }

    @Test func `a request is what its first line says, whatever its CSeq has`() {
        let text = "INVITE sip:192.0.2.10 SIP/2.0\r\nCall-ID: a\r\nCSeq: 1 OPTIONS\r\n\r\n"
        let invite = Example.line(.message(Example.message("INVITE", text: text)), callID: "a")
        #expect(Self.summaries([invite]) == ["INVITE"])
    }

    @Test func `a message that cannot be read is shown`() {
        let broken = Example.line(.message(Example.message("no SIP", text: "\u{0}\u{1}CSeq")), callID: "")
        #expect(Self.summaries([broken]) == ["no SIP"])
    }

    @Test func `lost events in front of a health check are counted at the next line`() {
        var probes = TracedProbes()
        #expect(probes.shown(Self.message("OPTIONS", "OPTIONS", callID: "check", lost: 3)) == nil)
        #expect(probes.shown(Self.message("INVITE", "INVITE", callID: "call", lost: 2))?.lost == 5)
        #expect(probes.shown(Example.line(.alive))?.lost == 0)
    }

    @Test func `the end of a trace is always shown`() {
        var probes = TracedProbes()
        #expect(probes.shown(Example.line(.end("the gateway stops"))) != nil)
    }
}
