// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Foundation
import SIPCore
import SIPTransport
import Testing

@testable import ConfigurationFiles

/// `docs/limits.md` has the limits of the program, each in a row of its own.
@Suite("The page of limits")
struct LimitsPageTests {
    /// The rows of the page's table: the first cell and the second.
    private static func rows() throws -> [String: String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/limits.md"), encoding: .utf8)
        var rows: [String: String] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            rows[cells[0]] = cells[1]
        }
        return rows
    }

    private static var limits: [String: Int] {
        let (limits, streams) = (HeraldConfiguration.Limits(), StreamLimits())
        return [
            "bytes of a message": limits.maxMessage, "header fields of a request": limits.maxHeaders,
            "bytes of a forwarded request by UDP, IPv4": RequestLimits.datagramIPv4,
            "bytes of a forwarded request by UDP, IPv6": RequestLimits.datagramIPv6,
            "bytes of an address that is read as one": OSIPGrammar.longestText,
            "separators (`;`, `,`, `&`) of such an address": OSIPGrammar.mostSeparators,
            "values of P-Asserted-Identity or Remote-Party-ID": RequestLimits.identityValues,
            "Max-Forwards": RequestValidity.mostForwards, "CSeq": RequestValidity.largestSequence,
            "unknown options that a 420 names": RequestValidity.mostNamedOptions,
            "targets tried for one call": TargetGroup.mostTried,
            "targets tried for a CANCEL without its INVITE": TargetGroup.mostTried,
            "bytes of a Call-ID in records": CallTexts.limits.sipCallID,
            "bytes of the called user in records": CallTexts.limits.subscriber,
            "bytes of the carrier's name in Record-Route, escaped": CarrierName.longest,
            "bytes of From in the Via of a cluster, escaped": OriginalFrom.longest,
            "seconds for one message on a stream": Int(HeraldConfiguration.Streams().unfinished / .seconds(1)),
            "bytes that wait for one connection": streams.waiting,
            "bytes that wait for a TLS handshake": streams.early,
        ]
    }

    @Test func `each limit is on the page with its value, and the page has no other`() throws {
        var rows = try Self.rows()
        for (name, value) in Self.limits {
            #expect(rows.removeValue(forKey: name) == "\(value)", "\(name)")
        }
        let other = Set(rows.keys).subtracting([
            "limit", "---", "header fields of a response", "bytes of one header field",
        ])
        #expect(other.isEmpty, "\(other)")
    }

    @Test func `the defaults of the reader are those of the configuration`() {
        let (limits, reader) = (HeraldConfiguration.Limits(), SIPLimits())
        #expect(limits.maxMessage == reader.messageBytes && limits.maxHeaders == reader.headerFields)
        #expect(StreamLimits().largestMessage == reader.messageBytes)
        #expect(HeraldConfiguration.Streams().unfinished == StreamLimits().unfinished)
    }
}
