// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("Sources that an earlier peer has")
struct SourceClaimsTests {
    private typealias Claim = SourceClaims.Claim

    private func claim(
        _ owner: String, _ source: String, listener: Int? = 0, _ names: Set<String> = []
    ) throws -> Claim {
        Claim(owner: owner, range: try SourceRange.read(source), listener: listener, certificateNames: names)
    }

    @Test(
        arguments: [
            // The earlier source and its listener, the later one and its listener, whether it is covered.
            ("203.0.113.0/24", 0, "203.0.113.5", 0, true), ("203.0.113.5", 0, "203.0.113.0/24", 0, false),
            ("203.0.113.5", 0, "203.0.113.5", 0, true), ("203.0.113.5", 0, "203.0.113.5", 1, false),
            ("203.0.113.5", nil, "203.0.113.5", 1, true), ("203.0.113.5:5060", 0, "203.0.113.5:5060", 0, true),
            ("203.0.113.5:5060", 0, "203.0.113.5", 0, false), ("203.0.113.5", 0, "203.0.113.5:5070", 0, true),
            ("203.0.113.5:5060", 0, "203.0.113.5:5070", 0, false), ("0.0.0.0/0", 0, "198.51.100.0/24", 0, true),
            ("0.0.0.0/0", 0, "[2001:db8::1]", 0, false), ("[2001:db8::]/32", 0, "[2001:db8:1::]/48", 0, true),
            ("[2001:db8::]/32", 0, "[2001:db9::1]", 0, false), ("203.0.112.0/23", 0, "203.0.113.0/25", 0, true),
            ("203.0.113.0/25", 0, "203.0.113.128/25", 0, false),
        ] as [(String, Int?, String, Int?, Bool)])
    func `a network covers its parts`(earlier: String, own: Int?, later: String, its: Int?, isCovered: Bool) throws {
        var claims = SourceClaims()
        claims.add(try claim("first", earlier, listener: own))
        let found = claims.first(covering: try claim("second", later, listener: its))
        #expect((found?.owner == "first") == isCovered)
    }

    @Test(
        arguments: [
            ([], ["a"], true), (["a"], [], false), (["a"], ["b"], false), (["a", "b"], ["a"], true),
            (["a"], ["a", "b"], false),
        ] as [(Set<String>, Set<String>, Bool)])
    func `certificates divide a network`(earlier: Set<String>, later: Set<String>, isCovered: Bool) throws {
        var claims = SourceClaims()
        claims.add(try claim("first", "0.0.0.0/0", earlier))
        let found = claims.first(covering: try claim("second", "0.0.0.0/0", later))
        #expect((found != nil) == isCovered)
    }

    @Test func `the first one in the file is named`() throws {
        var claims = SourceClaims()
        for (owner, source) in [
            ("a", "198.51.100.0/24"), ("b", "203.0.0.0/16"), ("c", "203.0.113.0/24"), ("d", "203.0.113.5"),
        ] {
            claims.add(try claim(owner, source))
        }
        #expect(claims.first(covering: try claim("e", "203.0.113.5"))?.owner == "b")
    }

    /// Names of thousands of trunks and PBXs are found without a comparison of each with each.
    @Test func `a large configuration is read, and its repeated source is found`() throws {
        let folder = TemporaryFolder()
        let count = 3_000
        func host(_ number: Int) -> String { "10.\(number >> 8 & 0xFF).\(number & 0xFF)" }
        let trunks = (0..<count).map { "  - {name: t\($0), sources: [\(host($0)).1], pbx: p\($0)}" }
        let pbxs = (0..<count).map { "  - {name: p\($0), address: \(host($0)).2}" }
        func text(_ more: String) -> String {
            "listen: [{address: 192.0.2.10}]\npbx:\n" + pbxs.joined(separator: "\n") + "\ntrunks:\n"
                + trunks.joined(separator: "\n") + more + "\n"
        }
        let configuration = try folder.load(text(""))
        #expect(configuration.trunks.count == count)
        #expect(configuration.trunks.last?.pbx == count - 1)
        #expect(!configuration.remarks.isEmpty)
        let error = #expect(throws: ConfigurationError.self) {
            try folder.load(text("\n  - {name: again, sources: [10.0.7.1], next_hop: 10.0.7.9}"))
        }
        #expect(error?.problems.first?.description.contains("10.0.7.1 already belongs to trunk t7 (10.0.7.1)") == true)
    }

    @Test(arguments: [
        ("{name: sip, address: 192.0.2.10}", "[203.0.113.5]", "trusted: true", true),
        ("{name: sip, address: 192.0.2.10}", "[203.0.113.5]", "trusted: false", false),
        ("{name: sip, address: 192.0.2.10, transport: tcp}", "[203.0.113.5]", "trusted: true", false),
        ("{name: sip, address: 127.0.0.1}", "[127.0.0.2]", "trusted: true", false),
    ])
    func `check-config notes trust in addresses of plain UDP`(
        listen: String, sources: String, trust: String, isNoted: Bool
    ) throws {
        let configuration = try TemporaryFolder().load(
            """
            listen: [\(listen)]
            trunks: [{name: carrier, sources: \(sources), \(trust)}]
            pbx: [{name: office, address: 127.0.0.3}]

            """)
        let note = "trunk carrier is trusted by UDP source address, which a sender can forge"
        #expect(ConfigurationSummary(configuration).text.contains(note) == isNoted)
    }
}
