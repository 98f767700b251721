// SPDX-License-Identifier: Apache-2.0

import Branding
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("The section doors.enum")
struct CallingNamesSchemaTests {
    private let folder = TemporaryFolder()

    private func door(_ keys: String) throws -> HeraldConfiguration.Doors.CallingNames? {
        try folder.load(smallest + "doors: {enum: {\(keys)}}").doors.callingNames
    }

    @Test func `a door needs a zone alone`() throws {
        #expect(try folder.load(smallest).doors.callingNames == nil)
        let door = try #require(try door("zone: CNAM.Example.net."))
        #expect(door.listen.description == "127.0.0.1:9483" && door.trunk == "trunk1")
        #expect(door.zone.description == "cnam.example.net")
        #expect(door.allow.map(\.description) == ["127.0.0.0/8", "[::1]"])
        #expect(door.ttl == .zero && door.rate == 200 && door.unbranded == .none && door.umlauts == .plain)
        #expect(door.uri == "pstndata:cnam/{name}" && door.unavailableURI == "pstndata:cnam/;unavailable={reason}")
        #expect(door.shortNames.isEmpty)
    }

    @Test func `every key is the operator's`() throws {
        let door = try #require(
            try door(
                """
                zone: cnam.example.net, listen: "192.0.2.10:53", allow: [192.0.2.20], ttl: 60s, rate: 1000, \
                unbranded: unavailable, umlauts: german, uri: "pstndata:cnam;{name}", \
                unavailable_uri: "pstndata:cnam;unavailable={reason}", short_names: {harbour: HARBOUR DENTAL, "7": Seven}
                """))
        #expect(door.listen.description == "192.0.2.10:53" && door.allow.map(\.description) == ["192.0.2.20"])
        #expect(door.ttl == .seconds(60) && door.rate == 1000 && door.unbranded == .unavailable)
        #expect(door.umlauts == .german && door.uri == "pstndata:cnam;{name}")
        #expect(door.unavailableURI == "pstndata:cnam;unavailable={reason}")
        #expect(door.shortNames.mapValues(\.text) == ["harbour": "HARBOUR DENTAL", "7": "Seven"])
    }

    @Test(arguments: [
        ("rate: 1", "doors.enum.zone: is missing; write zone: cnam.example.net"),
        ("zone: net", "doors.enum.zone: must be a name of two or more labels"),
        ("zone: cnam..net", "doors.enum.zone: must be"), ("zone: \"cnam example.net\"", "doors.enum.zone: must be"),
        ("zone: a.b, listen: \"0.0.0.0:53\", allow: [192.0.2.20]", "doors.enum.listen: must be one address"),
        ("zone: a.b, listen: 192.0.2.10", "doors.enum.allow: is missing"), ("zone: a.b, ttl: 61s", "doors.enum.ttl: "),
        ("zone: a.b, rate: 0", "doors.enum.rate: "), ("zone: a.b, unbranded: no", "doors.enum.unbranded: "),
        ("zone: a.b, uri: \"pstndata:cnam/\"", "doors.enum.uri: must be a URI of at most 100 bytes with {name} once"),
        ("zone: a.b, unavailable_uri: \"x:{name}\"", "doors.enum.unavailable_uri: must be a URI"),
        ("zone: a.b, short_names: [x]", "doors.enum.short_names: must be keys and values"),
        ("zone: a.b, short_names: {x: Sixteen characters}", "doors.enum.short_names.x: \"Sixteen characters\" must be"),
        ("zone: a.b, short_names: {x: Söhne}", "doors.enum.short_names.x: "),
        ("zone: a.b, zones: c", "doors.enum.zones: unknown key"),
    ])
    func `a wrong key is an error with its place`(keys: String, problem: String) throws {
        let problems = try folder.problems(in: smallest + "doors: {enum: {\(keys)}}")
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test(arguments: [
        ("", ", listen: \"127.0.0.1:9470\"", "127.0.0.1:9470 is also that of admin.listen"),
        ("names: {}, ", ", listen: \"127.0.0.1:9482\"", "127.0.0.1:9482 is also that of doors.names.listen"),
        (
            "names: {listen: \"127.0.0.1:9483\"}, ", "", "127.0.0.1:9483 is also that of doors.names.listen"
        ),
    ])
    func `an address of another server over TCP is an error`(names: String, listen: String, problem: String) throws {
        let problems = try folder.problems(in: smallest + "doors: {\(names)enum: {zone: a.b\(listen)}}")
        #expect(
            problems.count == 1 && problems[0].contains("doors.enum.listen: \(problem); write another port"),
            "\(problems)")
    }

    @Test(arguments: [
        ("", "", "doors.enum has the rules of trunk trunk1, which is not trusted: no caller gets a brand by it"),
        ("trusted: true, policy: strict", "", "with policy strict: no caller gets a brand by it"),
        (
            "trusted: true", ", listen: 192.0.2.10, allow: [192.0.2.20]",
            "names travel unencrypted; keep this network closed"
        ),
        ("trusted: true", ", allow: [0.0.0.0/0]", "doors.enum.allow has every address (0.0.0.0/0): list the clients"),
    ])
    func `rules and clients that surprise have a remark`(trunk: String, door: String, remark: String) throws {
        let yaml = smallest.replacing(
            "  - sources: [203.0.113.5]", with: "  - {sources: [203.0.113.5]\(trunk.isEmpty ? "" : ", \(trunk)")}")
        let configuration = try folder.load(yaml + "doors: {enum: {zone: a.b\(door)}}")
        #expect(configuration.doorRemarks.contains { $0.hasSuffix(remark) }, "\(configuration.doorRemarks)")
    }

    @Test func `the summary has zone, address and clients`() throws {
        let configuration = try folder.load(smallest + "doors: {enum: {zone: cnam.example.net}}")
        let line =
            "enum    zone cnam.example.net on 127.0.0.1:9483 for 127.0.0.0/8, [::1], by the rules of trunk trunk1\n"
        #expect(ConfigurationSummary(configuration).text.contains(line))
    }
}
