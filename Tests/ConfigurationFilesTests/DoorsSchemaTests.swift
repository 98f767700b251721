// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("The section doors")
struct DoorsSchemaTests {
    private let folder = TemporaryFolder()

    /// Two trunks, by name.
    private static let two = smallest.replacing(
        "  - sources: [203.0.113.5]",
        with: "  - {name: north, sources: [203.0.113.5]}\n  - {name: south, sources: [203.0.113.6]}")

    private func names(_ keys: String, in yaml: String = smallest) throws -> HeraldConfiguration.Doors.Names? {
        try folder.load(yaml + "doors: {\(keys)}").doors.names
    }

    @Test func `without the section, and without a door, there is none`() throws {
        #expect(try folder.load(smallest).doors.names == nil)
        #expect(try names("") == nil)
    }

    @Test func `a door needs no key where there is one trunk`() throws {
        let door = try #require(try names("names: {}"))
        #expect(door.listen.description == "127.0.0.1:9482" && door.trunk == "trunk1")
        #expect(door.allow.map(\.description) == ["127.0.0.0/8", "[::1]"])
        #expect(door.states.isEmpty)
    }

    @Test func `the parameters that count are those of the key`() throws {
        #expect(try names("names: {states: [called, verstat]}")?.states == [.called, .verstat])
        #expect(try names("names: {states: verstat}")?.states == [.verstat])
    }

    @Test func `address, trunk and clients are the operator's`() throws {
        let door = try #require(
            try names("names: {listen: 192.0.2.10, trunk: south, allow: [192.0.2.20, 192.0.2.64/26]}", in: Self.two))
        #expect(door.listen.description == "192.0.2.10:9482" && door.trunk == "south")
        #expect(door.allow.map(\.description) == ["192.0.2.20", "192.0.2.64/26"])
    }

    @Test(arguments: [
        ("listen: 192.0.2.10", "doors.names.allow: is missing; write allow: [192.0.2.20]"),
        ("allow: []", "doors.names.allow: must not be empty: nobody would get a name"),
        ("trunk: nobody", "doors.names.trunk: no trunk is named \"nobody\""),
        ("trunk: trunk", "doors.names.trunk: no trunk is named \"trunk\"; did you mean"),
        (
            "listen: 127.0.0.1:9470",
            "doors.names.listen: 127.0.0.1:9470 is also that of admin.listen; write another port"
        ),
        ("listen: names.example", "doors.names.listen: "), ("allow: [192.0.2.20/24]", "doors.names.allow[0]: "),
        ("port: 1", "doors.names.port: unknown key"), ("states: [name]", "doors.names.states[0]: "),
        ("states: [called, called]", "doors.names.states[1]: \"called\" is listed twice"),
    ])
    func `a wrong key is an error with its place`(keys: String, problem: String) throws {
        let problems = try folder.problems(in: smallest + "doors: {names: {\(keys)}}")
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test func `one of several trunks must be named`() throws {
        let problems = try folder.problems(in: Self.two + "doors: {names: {}}")
        #expect(problems.count == 1 && problems[0].contains("doors.names.trunk: is missing; write trunk: north"))
    }

    @Test(arguments: [
        (
            "trusted: true, policy: strict", "states: [verstat]",
            "with policy strict: a request without verstat gets no brand"
        ),
        ("trusted: true, policy: strict", "states: [called]", "with policy strict: no caller gets a brand by it"),
        ("", "", "which is not trusted: no caller gets a brand by it"),
        ("trusted: true, carrier_name: keep", "", "with carrier_name keep: no caller gets a brand by it"),
        ("", "listen: 192.0.2.10, allow: [192.0.2.20]", "names travel unencrypted; keep this network closed"),
        ("", "allow: [0.0.0.0/0]", "doors.names.allow has every address (0.0.0.0/0): list the clients"),
    ])
    func `rules and clients that surprise have a remark`(trunk: String, door: String, remark: String) throws {
        let yaml = smallest.replacing(
            "  - sources: [203.0.113.5]", with: "  - {sources: [203.0.113.5]\(trunk.isEmpty ? "" : ", \(trunk)")}")
        let configuration = try folder.load(yaml + "doors: {names: {\(door)}}")
        #expect(configuration.doorRemarks.contains { $0.hasSuffix(remark) }, "\(configuration.doorRemarks)")
        #expect(configuration.remarks.contains { $0.hasSuffix(remark) })
    }

    @Test func `a usual door has no remark, and a line in the summary`() throws {
        let configuration = try folder.load(
            smallest.replacing("[203.0.113.5]", with: "[203.0.113.5]\n    trusted: true") + "doors: {names: {}}")
        #expect(configuration.doorRemarks.isEmpty)
        let line = "names   on http://127.0.0.1:9482 for 127.0.0.0/8, [::1], by the rules of trunk trunk1\n"
        #expect(ConfigurationSummary(configuration).text.contains(line))
    }
}
