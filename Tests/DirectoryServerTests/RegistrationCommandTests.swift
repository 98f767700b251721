// SPDX-License-Identifier: Apache-2.0

import Branding
import ChildPrograms
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("herald-directory registrations", .timeLimit(.minutes(8)), .bothEngines)
struct RegistrationCommandTests {
    private static func run(_ arguments: [String], _ folder: TemporaryFolder) async throws -> ChildProgram {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await ChildProgram.run(
            tests.appendingPathComponent("herald-directory").path,
            ["registrations"] + arguments + Engine.options(folder.path + "/state"))
    }

    @Test func `the operator lists registrations and ends one`() async throws {
        let folder = TemporaryFolder()
        let database = try Engine.open(folder.path + "/state")
        #expect(try await Self.run([], folder).output == "no registrations\n")
        _ = try BrandEntries(database).put([try entry(CamaraClient.acme, "Acme \"Bank\"")], now: 1)
        var fields = Registration.Fields(
            number: try #require(E164Number(CamaraClient.acme)), name: "Acme \"Bank\"", country: 61)
        fields.customer = "customer-1"
        let made = try await Registrations(database, account: .first).create(fields, now: 1)

        let list = try await Self.run(["list", "--wide"], folder)
        #expect(list.code == 0 && list.output.contains(made.id), "\(list)")
        let json = try await Self.run(["list", "--json", "--status", "active"], folder).output
        #expect(
            json == """
                {"brand_name":"Acme \\"Bank\\"","customer_id":"customer-1","phone_number_e164":"+61491570156",\
                "registration_id":"\(made.id)","status":"active","terminating_country_code":61}

                """, "\(json)")
        #expect(try await Self.run(["--status", "expired"], folder).output == "no registrations\n")

        let removed = try await Self.run(["remove", made.id], folder)
        #expect(removed.code == 0 && removed.output == "registration \"\(made.id)\" is removed\n", "\(removed)")
        #expect(try BrandEntries(database).active(limit: 9).isEmpty)
        let unknown = try await Self.run(["remove", "a\u{1B}[2J"], folder)
        #expect(unknown.code != 0 && unknown.errors.contains("there is no registration"), "\(unknown)")
        #expect(!unknown.errors.contains("\u{1B}"))
    }
}
