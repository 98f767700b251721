// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("herald.yaml: remarks")
struct RemarkTests {
    private let folder = TemporaryFolder()

    /// - Parameter end: sections after the required ones.
    private func remarks(
        listen: String = "{name: sip, address: 192.0.2.10}", sources: String = "[203.0.113.5]",
        trunk: String = "next_hop: 203.0.113.5", pbx: String = "192.0.2.20", _ end: String = ""
    ) throws -> [String] {
        let configuration = try folder.load(
            """
            listen: [\(listen)]
            trunks: [{name: carrier, sources: \(sources), trusted: true, \(trunk)}]
            pbx: [{name: office, address: \(pbx)}]
            \(end)

            """)
        return configuration.remarks.filter { !$0.hasPrefix("neither directory") && !$0.contains("the key travels") }
    }

    @Test(arguments: [
        ("{name: sip, address: 192.0.2.10}", "192.0.2.10", "192.0.2.10:5060"),
        ("{name: sip, address: 192.0.2.10:5070}", "192.0.2.10:5070", "192.0.2.10:5070"),
        ("{name: sip, address: 0.0.0.0, advertise: 198.51.100.10}", "198.51.100.10", "198.51.100.10:5060"),
        ("{name: sip, address: '[2001:db8::10]'}", "'[2001:db8::10]'", "[2001:db8::10]:5060"),
    ])
    func `a target with the gateway's own address causes a remark`(listen: String, pbx: String, shown: String) throws {
        let isIPv6 = listen.contains("2001")
        let found = try remarks(
            listen: listen, sources: isIPv6 ? "['2001:db8::5']" : "[203.0.113.5]",
            trunk: isIPv6 ? "next_hop: '[2001:db8::5]'" : "next_hop: 203.0.113.5", pbx: pbx)
        #expect(
            found == [
                "pbx office: \(shown) is this gateway's own address (listen sip): a call to it comes back and gets 482; "
                    + "write the peer's address"
            ])
    }

    @Test func `a PBX with the carrier's address causes a remark`() throws {
        let found = try remarks(sources: "[203.0.113.0/24]", pbx: "203.0.113.5:5070")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("pbx office and trunk carrier share the address 203.0.113.5: ") == true)
        #expect(try remarks(sources: "[203.0.113.0/24]", pbx: "203.0.113.6").isEmpty)
    }

    @Test(arguments: [
        ("[0.0.0.0/0]", "contain every address"), ("['[::]/0']", "contain every address"),
        ("[203.0.0.0/16]", "UDP source addresses can be forged"),
        ("['[2001:db8::]/32']", "UDP source addresses can be forged"),
        ("[203.0.113.0/24]", ""), ("['[2001:db8:1::]/48']", ""), ("[203.0.113.5]", ""),
    ])
    func `trusted sources that are too wide cause a remark`(sources: String, word: String) throws {
        let found = try remarks(sources: sources)
        #expect(found.count == (word.isEmpty ? 0 : 1))
        #expect(word.isEmpty || found.first?.contains(word) == true, "\(found)")
    }

    @Test(arguments: [
        ("http://crm.example.com/calls", true), ("https://crm.example.com/calls", false),
        ("http://127.0.0.1:8080/calls", false), ("http://localhost/calls", false), ("http://10.0.0.5/calls", true),
    ])
    func `an http webhook to another machine causes a remark`(url: String, isRemarked: Bool) throws {
        try folder.write("secret-key-of-the-webhook", to: "secret")
        let found = try remarks("outcomes: {webhook: {url: '\(url)', secret_file: secret}}")
        #expect(found.contains { $0.hasPrefix("outcomes.webhook.url is http") } == isRemarked)
    }

    @Test(arguments: [
        ("http://127.0.0.1:8088", "", "left out; add a logos section, which serves copies"),
        ("http://127.0.0.1:8088", "branding: {allow_insecure_logos: true}", "can be fetched on this machine only"),
        ("http://192.0.2.30", "branding: {allow_insecure_logos: true}", ""),
        ("https://directory.example.com", "", ""),
        (
            "http://127.0.0.1:8088", "logos: {listen: 192.0.2.10}",
            "set allow_http: true and allow_private: true in logos"
        ),
        ("http://10.1.2.3", "logos: {listen: 192.0.2.10, allow_http: true}", "set allow_private: true in logos"),
        ("http://d.example.com", "logos: {listen: 192.0.2.10}", "set allow_http: true in logos"),
        ("http://127.0.0.1:8088", "logos: {listen: 192.0.2.10, allow_http: true, allow_private: true}", ""),
        ("http://127.0.0.1:8088", "branding: {call_info: false}", ""),
    ])
    func `logos that phones will not get cause a remark`(url: String, section: String, word: String) throws {
        try folder.write("key", to: "api-key")
        let found = try remarks("directory: {url: '\(url)', api_key_file: api-key}\n\(section)")
            .filter { $0.contains("logos") && !$0.contains("secret") }
        #expect(found.count == (word.isEmpty ? 0 : 1), "\(found)")
        #expect(word.isEmpty || found.first?.contains(word) == true, "\(found)")
    }
}
