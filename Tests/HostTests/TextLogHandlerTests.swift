// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization
import Testing

@testable import Host

@Suite("Log lines for people")
struct TextLogHandlerTests {
    private func line(
        _ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata = [:], isForJournal: Bool = false
    ) -> String {
        let written = Mutex("")
        let logger = Logger(label: "herald.test") { label in
            TextLogHandler(
                label: label, level: .info, isForJournal: isForJournal, now: { "2026-11-27T12:00:00Z" },
                write: { line in written.withLock { $0 += line } })
        }
        logger.log(level: level, message, metadata: metadata)
        return written.withLock { $0 }
    }

    @Test func `the message comes first, the metadata behind it by name`() {
        #expect(
            line(.warning, "the clock was set", ["seconds": "-3600", "a": "b c"])
                == "2026-11-27T12:00:00Z warning the clock was set a=\"b c\" seconds=-3600 [herald.test]\n")
    }

    /// A caller's name may have combining marks (U+0300 to U+036F), which join the character before them.
    @Test(arguments: [
        ("a\"\u{301} outcome=\"", "\"a\\\"\u{301} outcome=\\\"\""), ("a=\u{338}b", "\"a=\u{338}b\""),
        ("a \u{301}b", "\"a \u{301}b\""),
    ])
    func `a mark on a quote, a sign or a blank ends no value`(name: String, value: String) {
        #expect(
            line(.info, "call", ["from": "\(name)"]) == "2026-11-27T12:00:00Z info call from=\(value) [herald.test]\n")
    }

    /// Source: sd-daemon(3), syslog(3).
    @Test(arguments: [
        (Logger.Level.info, "<6>"), (.notice, "<5>"), (.warning, "<4>"), (.error, "<3>"), (.critical, "<2>"),
    ])
    func `a line for the journal has the priority and no time`(level: Logger.Level, prefix: String) {
        #expect(line(level, "ready for calls", isForJournal: true) == "\(prefix)ready for calls [herald.test]\n")
    }

    @Test func `the metadata of an event goes before that of the provider, and that before the logger's own`() {
        let written = Mutex("")
        var logger = Logger(label: "herald.test") { label in
            TextLogHandler(
                label: label, level: .info, isForJournal: true, write: { line in written.withLock { $0 += line } })
        }
        for key in ["a", "b", "c"] { logger[metadataKey: key] = "logger" }
        logger.handler.metadataProvider = .init { ["b": "provider", "c": "provider"] }
        logger.info("set", metadata: ["c": "event"])
        #expect(written.withLock { $0 } == "<6>set a=logger b=provider c=event [herald.test]\n")
        #expect(logger[metadataKey: "a"] == "logger" && logger.metadataProvider != nil)
    }

    @Test func `what is below the level is not written`() { #expect(line(.debug, "detail") == "") }

    @Test(arguments: ["a\nb", "a\u{1B}[31mb", "a\u{202E}b", "a\r<3>b", "a\u{0}b"])
    func `nothing ends a line or steers a terminal`(text: String) {
        for isForJournal in [false, true] {
            let line = line(.info, "\(text)", ["value": "\(text)"], isForJournal: isForJournal)
            #expect(
                line.unicodeScalars.filter { $0.properties.generalCategory == .control }.count == 1, "its end alone")
            #expect(!line.contains("\u{202E}"))
            #expect(line.contains("\\u{"))
        }
    }

    @Test func `standard error is the journal's where systemd names its device and inode, systemd_exec(5)`() throws {
        let descriptor = open("/dev/null", O_WRONLY)
        defer { close(descriptor) }
        var status = stat()
        try #require(fstat(descriptor, &status) == 0)
        let named = "\(status.st_dev):\(status.st_ino)"
        #expect(JournalStream.isJournal(named, descriptor))
        for other in [nil, "", "1", "\(status.st_dev):\(status.st_ino + 1)", "\(named):1", "x:y"] as [String?] {
            #expect(!JournalStream.isJournal(other, descriptor))
        }
    }
}
