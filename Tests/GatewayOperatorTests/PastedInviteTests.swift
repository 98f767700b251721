// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

@Suite("A pasted INVITE")
struct PastedInviteTests {
    private static let head = """
        INVITE sip:+61255502000@192.0.2.10 SIP/2.0
        Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1
        From: <sip:+61255501001@203.0.113.5>;tag=1
        Call-ID: c1
        """
    private static let body = "v=0\r\ns=-\r\n"

    private func text(_ paste: PastedInvite) -> String { String(decoding: paste.bytes, as: UTF8.self) }

    private func crlf(_ text: String) -> String { text.replacing("\n", with: "\r\n") }

    @Test(arguments: [false, true])
    func `line ends do not matter, and a missing Content-Length is added`(isCRLF: Bool) throws {
        let pasted = Self.head + "\n\nv=0\ns=-\n"
        let paste = try PastedInvite(isCRLF ? crlf(pasted) : pasted)
        #expect(text(paste) == crlf(Self.head) + "\r\nContent-Length: 10\r\n\r\n" + Self.body)
        #expect(paste.source == nil && paste.changes == ["Content-Length: 10 added"])
    }

    @Test(arguments: ["Content-Length: 8", "l: 8"])
    func `a Content-Length of other line ends is corrected`(field: String) throws {
        let paste = try PastedInvite(Self.head + "\n\(field)\n\nv=0\ns=-\n")
        #expect(text(paste).contains("\r\nContent-Length: 10\r\n\r\n" + Self.body))
        #expect(paste.changes == ["Content-Length 8 corrected to 10, the length of the pasted body"])
    }

    // As Asterisk 22 writes it with `pjsip set logger on` (res_pjsip_logger.c).
    @Test func `Asterisk's lines around the message are left out, and name the sender`() throws {
        let paste = try PastedInvite(
            "<--- Received SIP request (812 bytes) from UDP:203.0.113.5:5060 --->\n" + Self.head
                + "\nContent-Length: 0\n\n\n<--- Transmitting SIP response (300 bytes) to UDP:203.0.113.5:5060 --->\n"
                + "SIP/2.0 100 Trying\nVia: SIP/2.0/UDP 203.0.113.5\n")
        #expect(paste.source == "203.0.113.5:5060")
        #expect(text(paste) == crlf(Self.head) + "\r\nContent-Length: 0\r\n\r\n")
        #expect(paste.changes.isEmpty)
    }

    // As sngrep shows and saves it.
    @Test func `the line of sngrep in front of the message names the sender`() throws {
        let paste = try PastedInvite(
            "2026/11/27 10:00:00.123456 203.0.113.5:5062 -> 192.0.2.10:5060\n" + Self.head + "\n\n")
        #expect(paste.source == "203.0.113.5:5062")
    }

    @Test func `a prefix of each line is left out, while its time goes on`() throws {
        let lines = Self.head.split(separator: "\n").enumerated().map { "[2026-11-27 10:00:0\($0)] sip: \($1)\n" }
        let paste = try PastedInvite(lines.joined() + "[2026-11-27 10:00:05] sip: \n")
        #expect(text(paste).hasPrefix(crlf(Self.head) + "\r\nContent-Length: 0\r\n\r\n"), "\(text(paste))")
        #expect(paste.changes.contains("a prefix of each line left out"))
    }

    @Test(arguments: [
        ("", "the text has no INVITE"), ("hello\n", "the text has no INVITE"),
        ("OPTIONS sip:a@b SIP/2.0\nVia: x\n", "the text has a OPTIONS and no INVITE"),
        ("SIP/2.0 200 OK\nVia: x\n", "the text has a response and no INVITE"),
    ])
    func `a text without an INVITE says what it has and what to paste`(pasted: String, problem: String) {
        let failure = #expect(throws: PastedInvite.Failure.self) { try PastedInvite(pasted) }
        #expect(failure?.description.hasPrefix(problem) == true)
        #expect(failure?.description.contains("paste the whole message") == true)
    }
}
