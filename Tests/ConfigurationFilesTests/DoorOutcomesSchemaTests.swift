// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("The section doors.outcomes")
struct DoorOutcomesSchemaTests {
    private let folder = TemporaryFolder()

    private static let two = smallest.replacing(
        "  - sources: [203.0.113.5]",
        with: "  - {name: north, sources: [203.0.113.5]}\n  - {name: south, sources: [203.0.113.6]}")

    private func doors(_ keys: String, in yaml: String = smallest) throws -> HeraldConfiguration.Doors {
        try folder.load(yaml + "doors: {\(keys)}").doors
    }

    @Test func `it needs no key beside a door for names`() throws {
        let door = try #require(try doors("names: {}, outcomes: {}").outcomes)
        #expect(door.listen.description == "127.0.0.1:9486" && door.trunk == "trunk1" && door.rate == 200)
        #expect(door.allow.map(\.description) == ["127.0.0.0/8", "[::1]"])
        #expect(try doors("names: {}").outcomes == nil)
    }

    @Test func `address, trunk, clients and rate are the operator's`() throws {
        let keys = "listen: 192.0.2.10, trunk: south, allow: [192.0.2.20], rate: 50"
        let door = try #require(try doors("names: {trunk: south}, outcomes: {\(keys)}", in: Self.two).outcomes)
        #expect(door.listen.description == "192.0.2.10:9486" && door.trunk == "south" && door.rate == 50)
        #expect(try doors("enum: {zone: cnam.example.net}, outcomes: {}").outcomes != nil)
    }

    @Test(arguments: [
        ("names: {}, outcomes: {allow: []}", "doors.outcomes.allow: must not be empty: no report would count"),
        ("names: {}, outcomes: {listen: 192.0.2.10}", "doors.outcomes.allow: is missing"),
        ("names: {}, outcomes: {rate: 0}", "doors.outcomes.rate: 0 is out of range"),
        ("names: {}, outcomes: {port: 1}", "doors.outcomes.port: unknown key"),
        (
            "names: {}, outcomes: {listen: '127.0.0.1:9482'}",
            "doors.outcomes.listen: 127.0.0.1:9482 is also that of doors.names.listen; write another port"
        ),
        ("outcomes: {}", "doors.outcomes.trunk: no door gives names by the rules of trunk trunk1"),
    ])
    func `a wrong key is an error with its place`(keys: String, problem: String) throws {
        let problems = try folder.problems(in: smallest + "doors: {\(keys)}")
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test func `a door for names of another trunk is none`() throws {
        let problems = try folder.problems(
            in: Self.two + "doors: {names: {trunk: north}, outcomes: {trunk: south}}")
        #expect(problems.count == 1 && problems[0].contains("add doors.names for it"), "\(problems)")
    }

    @Test func `an open address and a list of everybody are remarked`() throws {
        let yaml = smallest.replacing("[203.0.113.5]", with: "[203.0.113.5]\n    trusted: true")
        let keys = "names: {}, outcomes: {listen: 192.0.2.10, allow: [0.0.0.0/0]}"
        let remarks = try folder.load(yaml + "doors: {\(keys)}").remarks
        #expect(remarks.contains { $0.contains("doors.outcomes.listen is 192.0.2.10:9486") }, "\(remarks)")
        #expect(remarks.contains { $0.contains("doors.outcomes.allow has every address") }, "\(remarks)")
    }
}
