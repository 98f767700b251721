// SPDX-License-Identifier: Apache-2.0

import Branding
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("herald.yaml: brands of trunks and routes")
struct BrandModeTests {
    private let folder = TemporaryFolder()

    /// - Parameters:
    ///   - trunk: further keys of the trunk.
    ///   - route: further keys of the route.
    private func load(_ trunk: String = "", route: String = "", _ end: String = "") throws -> HeraldConfiguration {
        try folder.load(
            """
            listen: [{name: sip, address: 192.0.2.10}]
            trunks: [{name: carrier, sources: [203.0.113.5], trusted: true, next_hop: 203.0.113.5\(trunk)}]
            pbx: [{name: office, address: 192.0.2.20}]
            routes: {table: [{name: acme, numbers: [+49301234567]\(route)}]}
            brands: {file: brands.psv}
            \(end)

            """)
    }

    @Test(arguments: [("", BrandMode.on), ("true", .on), ("shadow", .shadow), ("false", .off)])
    func `trunks and routes have the same values`(word: String, mode: BrandMode) throws {
        let key = word.isEmpty ? "" : ", brands: \(word)"
        let configuration = try load(key, route: key)
        #expect(configuration.trunks.map(\.brands) == [mode] && configuration.routes.table.map(\.brands) == [mode])
    }

    @Test(arguments: ["on", "off", "yes", "decide", "''"]) func `another value is an error`(word: String) throws {
        let failure = #expect(throws: (any Error).self) { try load(", brands: \(word)") }
        #expect(failure.map { "\($0)" }?.contains("trunks[0].brands") == true)
    }

    /// Keys of trunk and route, a section, and the remarks about brands.
    private static let remarks: [(trunk: String, route: String, end: String, remarks: [String])] = [
        ("", "", "", []),
        (
            ", brands: shadow", "", "",
            ["trunk carrier is in shadow (brands: shadow): none of its calls is branded; set brands: true to brand"]
        ),
        (
            "", ", brands: shadow", "",
            ["route acme is in shadow (brands: shadow): none of its calls is branded; set brands: true to brand"]
        ),
        (", brands: false", ", brands: false", "", ["trunk carrier has brands: false: its calls are not branded"]),
        (
            ", brands: shadow", "", "branding: {enabled: false}",
            [
                "branding.enabled is false: every call passes unbranded",
                "trunk carrier has brands: shadow: no effect while branding.enabled is false",
            ]
        ),
        (
            ", brands: shadow", "", "doors: {names: {listen: 127.0.0.1:9490, allow: [127.0.0.1], trunk: carrier}}",
            [
                "trunk carrier is in shadow (brands: shadow): none of its calls is branded; set brands: true to brand",
                "doors.names has the rules of trunk carrier with brands: shadow: no caller gets a brand by it",
            ]
        ),
    ]

    @Test(arguments: remarks) func `trunks, routes and doors without brands cause a remark`(
        trunk: String, route: String, end: String, remarks: [String]
    ) throws {
        #expect(try load(trunk, route: route, end).remarks == remarks)
    }

    @Test func `trunks and routes in shadow are named, unless branding is off altogether`() throws {
        #expect(
            try load(", brands: shadow", route: ", brands: shadow").namesInShadow == ["trunk carrier", "route acme"])
        #expect(try load(", brands: false").namesInShadow.isEmpty)
        #expect(try load(", brands: shadow", "branding: {enabled: false}").namesInShadow.isEmpty)
    }

    @Test func `check-config shows the mode`() throws {
        let text = ConfigurationSummary(try load(", brands: shadow", route: ", brands: shadow")).text
        #expect(text.contains(", brands in shadow\n"))
        #expect(text.contains("route   acme: 1 numbers, 0 prefixes, to the trunk's pbx, brands in shadow\n"))
    }
}
