// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("The section doors.verification")
struct VerificationSchemaTests {
    private let folder = TemporaryFolder()
    private static let trusting = smallest + "trust: {regimes: [us]}\n"

    private func door(_ keys: String) throws -> HeraldConfiguration.Doors.Verification? {
        try folder.load(Self.trusting + "doors: {verification: {\(keys)}}").doors.verification
    }

    @Test func `a door needs no key beside a section trust`() throws {
        #expect(try folder.load(Self.trusting).doors.verification == nil)
        let door = try #require(try door(""))
        #expect(door.listen.description == "127.0.0.1:9485" && door.trunk == "trunk1")
        #expect(door.allow.map(\.description) == ["127.0.0.0/8", "[::1]"])
        #expect(door.base.isEmpty && door.reasonKeys == .camel)
        #expect(door.path == "/v1/verification")
        let problems = try folder.problems(in: smallest + "doors: {verification: {}}")
        #expect(problems.count == 1 && problems[0].contains("doors.verification.trunk: needs a section trust"))
    }

    @Test func `every key is the operator's`() throws {
        let door = try #require(
            try door(
                "listen: 192.0.2.10, allow: [192.0.2.20], trunk: trunk1, base: /StirShakenWeb/resources/, reason_keys: lower"
            ))
        #expect(door.listen.description == "192.0.2.10:9485" && door.allow.map(\.description) == ["192.0.2.20"])
        #expect(door.base == "/StirShakenWeb/resources" && door.reasonKeys == .lower)
        #expect(door.path == "/StirShakenWeb/resources/v1/verification")
    }

    @Test(arguments: [("/", "/v1/verification"), ("/stir", "/stir/v1/verification")])
    func `a base may be empty`(base: String, path: String) throws {
        #expect(try #require(try door("base: \(base)")).path == path)
    }

    @Test(arguments: [
        ("listen: 192.0.2.10", "doors.verification.allow: is missing"),
        ("allow: []", "doors.verification.allow: must not be empty: nobody would get a verification"),
        ("trunk: nobody", "doors.verification.trunk: no trunk is named \"nobody\""),
        ("base: stir", "doors.verification.base: must be a path"), ("base: //a", "doors.verification.base: must be"),
        ("base: \"/a b\"", "doors.verification.base: must be"), ("base: \"/a?x\"", "doors.verification.base: must be"),
        ("reason_keys: upper", "doors.verification.reason_keys: "), ("keys: x", "doors.verification.keys: unknown key"),
    ])
    func `a wrong key is an error with its place`(keys: String, problem: String) throws {
        let problems = try folder.problems(in: Self.trusting + "doors: {verification: {\(keys)}}")
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test(arguments: [
        ("", "127.0.0.1:9470", "admin.listen"), ("names: {}, ", "127.0.0.1:9482", "doors.names.listen"),
        ("enum: {zone: a.b}, ", "127.0.0.1:9483", "doors.enum.listen"),
    ])
    func `an address of another server is an error`(others: String, listen: String, key: String) throws {
        let problems = try folder.problems(
            in: Self.trusting + "doors: {\(others)verification: {listen: \"\(listen)\"}}")
        #expect(
            problems.count == 1
                && problems[0].contains(
                    "doors.verification.listen: \(listen) is also that of \(key); write another port"),
            "\(problems)")
    }

    @Test(arguments: [
        (", signatures: off", "", "which verifies nothing: each response is No-TN-Validation"),
        ("", "listen: 192.0.2.10, allow: [192.0.2.20]", "calls travel unencrypted; keep this network closed"),
        ("", "allow: [0.0.0.0/0]", "doors.verification.allow has every address (0.0.0.0/0): list the clients"),
    ])
    func `rules and clients that surprise have a remark`(trunk: String, door: String, remark: String) throws {
        let yaml = Self.trusting.replacing(
            "  - sources: [203.0.113.5]", with: "  - {sources: [203.0.113.5]\(trunk)}")
        let configuration = try folder.load(yaml + "doors: {verification: {\(door)}}")
        #expect(configuration.doorRemarks.count == 1, "\(configuration.doorRemarks)")
        #expect(configuration.doorRemarks[0].hasSuffix(remark), "\(configuration.doorRemarks)")
    }
}
