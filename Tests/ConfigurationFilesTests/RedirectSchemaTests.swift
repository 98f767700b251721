// SPDX-License-Identifier: Apache-2.0

import SIPCore
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("The section doors.redirect")
struct RedirectSchemaTests {
    private let folder = TemporaryFolder()

    private func door(_ keys: String) throws -> HeraldConfiguration.Doors.Redirect? {
        try folder.load(smallest + "doors: {redirect: {\(keys)}}").doors.redirect
    }

    @Test func `a door needs no key`() throws {
        #expect(try folder.load(smallest).doors.redirect == nil)
        let door = try #require(try door(""))
        #expect(door.listen.description == "127.0.0.1:9484" && door.trunk == "trunk1")
        #expect(door.allow.map(\.description) == ["127.0.0.0/8", "[::1]"])
        #expect(door.nameIn == .assertedIdentity && door.clients.isEmpty)
        #expect(door.unbranded == .notFound && door.rate == 1_000)
    }

    @Test func `every key is the operator's`() throws {
        let door = try #require(
            try door(
                """
                listen: "192.0.2.10:5080", allow: [192.0.2.0/24], name_in: x-caller-name, unbranded: 503, rate: 50, \
                clients: {192.0.2.21: Contact, 192.0.2.128/25: P-Asserted-Identity}
                """))
        #expect(door.listen.description == "192.0.2.10:5080" && door.allow.map(\.description) == ["192.0.2.0/24"])
        #expect(door.nameIn == .header("x-caller-name") && door.unbranded == .serviceUnavailable && door.rate == 50)
        let clients = Dictionary(uniqueKeysWithValues: door.clients.map { ($0.key.description, $0.value) })
        #expect(clients == ["192.0.2.21": .contact, "192.0.2.128/25": .assertedIdentity])
    }

    @Test(arguments: [
        ("listen: \"0.0.0.0:5080\", allow: [192.0.2.20]", "doors.redirect.listen: must be one address"),
        ("listen: 192.0.2.10", "doors.redirect.allow: is missing"), ("allow: []", "doors.redirect.allow: must not"),
        ("name_in: From", "doors.redirect.name_in: \"From\" must be P-Asserted-Identity, Contact, or a header name"),
        ("name_in: X-", "doors.redirect.name_in: "), ("name_in: \"X-A: b\"", "doors.redirect.name_in: "),
        ("name_in: \"X-A\\r\\nVia\"", "doors.redirect.name_in: "), ("unbranded: 603", "doors.redirect.unbranded: "),
        ("rate: 0", "doors.redirect.rate: "), ("clients: {pbx.example: Contact}", "doors.redirect.clients: "),
        ("clients: {192.0.2.20: To}", "doors.redirect.clients.192.0.2.20: "),
        ("clients: [192.0.2.20]", "doors.redirect.clients: must be keys and values"),
        ("trunk: other", "doors.redirect.trunk: no trunk is named"), ("port: 1", "doors.redirect.port: unknown key"),
    ])
    func `a wrong key is an error with its place`(keys: String, problem: String) throws {
        let problems = try folder.problems(in: smallest + "doors: {redirect: {\(keys)}}")
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test func `an address of another socket over UDP is an error`() throws {
        let problems = try folder.problems(
            in: smallest + "doors: {enum: {zone: a.b}, redirect: {listen: \"127.0.0.1:9483\"}}")
        #expect(problems.count == 1 && problems[0].contains("is also that of doors.enum.listen"), "\(problems)")
        // Names by HTTP are over TCP.
        #expect(
            try folder.load(smallest + "doors: {names: {}, redirect: {listen: \"127.0.0.1:9482\"}}").doors.redirect
                != nil)
    }

    @Test(arguments: [
        ("", "", "doors.redirect has the rules of trunk trunk1, which is not trusted: no caller gets a brand by it"),
        ("trusted: true, brands: shadow", "", "with brands: shadow: no caller gets a brand by it"),
        ("trusted: true, brands: false", "", "with brands: false: no caller gets a brand by it"),
        ("trusted: true, carrier_name: keep", "", "with carrier_name keep: no caller gets a brand by it"),
        (
            "trusted: true", "listen: 192.0.2.10, allow: [192.0.2.20]",
            "names travel unencrypted; keep this network closed"
        ),
        ("trusted: true", "allow: [0.0.0.0/0]", "doors.redirect.allow has every address (0.0.0.0/0): list the clients"),
        (
            "trusted: true", "clients: {192.0.2.20: Contact}",
            "doors.redirect.clients has 192.0.2.20, which doors.redirect.allow does not list: add it there"
        ),
    ])
    func `rules and clients that surprise have a remark`(trunk: String, door: String, remark: String) throws {
        let yaml = smallest.replacing(
            "  - sources: [203.0.113.5]", with: "  - {sources: [203.0.113.5]\(trunk.isEmpty ? "" : ", \(trunk)")}")
        let configuration = try folder.load(yaml + "doors: {redirect: {\(door)}}")
        #expect(configuration.doorRemarks.contains { $0.hasSuffix(remark) }, "\(configuration.doorRemarks)")
    }

    @Test func `the summary has address, clients and place`() throws {
        let configuration = try folder.load(smallest + "doors: {redirect: {name_in: contact}}")
        let line = "302     UDP 127.0.0.1:9484 for 127.0.0.0/8, [::1], by the rules of trunk trunk1, name in Contact\n"
        #expect(ConfigurationSummary(configuration).text.contains(line))
    }
}
