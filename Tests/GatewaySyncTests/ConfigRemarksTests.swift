// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Logging
import Testing

@testable import GatewaySync

@Suite("What the log says of a directory's config")
struct ConfigRemarksTests {
    private static func config(_ json: String) throws -> DirectoryConfig {
        try JSONDecoder().decode(DirectoryConfig.self, from: Data(json.utf8))
    }

    /// Runs configs one after another, each so many seconds after the start.
    private static func lines(_ steps: [(at: Int64, json: String)], obeys: Bool = false) throws -> [String] {
        let log = RecordingLog()
        var remarks = ConfigRemarks(logger: Logger(label: "test") { _ in log.handler })
        for step in steps { remarks.record(try config(step.json), obeysVoipDialer: obeys, now: step.at) }
        return log.lines
    }

    @Test func `a flag that stays false is logged once, its change once more`() throws {
        let off = #"{"voip_dialer_enabled":false}"#
        #expect(try Self.lines([(0, #"{"voip_dialer_enabled":true}"#), (1, "{}")]).isEmpty)
        let lines = try Self.lines([(0, off), (1, off), (90_000, off), (100_000, #"{"voip_dialer_enabled":true}"#)])
        #expect(lines.count == 2)
        #expect(lines.first?.contains("set directory.voip_dialer_enabled: obey") == true)
        #expect(lines.last?.contains("true again") == true)
    }

    @Test func `a flag that alternates with every response is logged at most once an hour`() throws {
        let steps = (0..<7200).map { second in
            (at: Int64(second), json: #"{"voip_dialer_enabled":\#(second % 2 == 0 ? "false" : "true")}"#)
        }
        #expect(try Self.lines(steps, obeys: true).count <= 2)
    }

    @Test func `an unknown account status is a warning, once for each value`() throws {
        let words = ["past_due", "PAST_DUE ", "trialing", "active", "suspended", "canceled", "", "past_due"]
        let lines = try Self.lines(words.enumerated().map { (Int64($0), #"{"account_status":"\#($1)"}"#) })
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("warning") && $0.contains("branding_enabled") })
        #expect(lines.first?.contains("account_status=past_due") == true)
    }

    @Test func `a directory that makes up values fills no log, and their bytes reach no terminal`() throws {
        let made = (0..<500).map { (Int64($0), #"{"account_status":"\u001b[31m\#($0)"}"#) }
        let lines = try Self.lines(made)
        #expect(lines.count == 32)
        #expect(lines.allSatisfy { !$0.contains("\u{1b}") })
    }
}
