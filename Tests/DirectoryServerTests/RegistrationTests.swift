// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Registrations and the brands of gateways", .timeLimit(.minutes(8)), .bothEngines)
struct RegistrationTests {
    private static let (acme, second) = (CamaraClient.acme, CamaraClient.second)

    @Test func `a registration gives a brand of the account to its numbers, and its end takes them out of use`()
        async throws
    {
        try await CamaraClient.run { client in
            #expect(try client.names() == [Self.acme: "Acme Bank", Self.second: "Acme Bank"])
            let path = try await client.register()
            #expect(try client.names() == [Self.acme: "Acme Claims", Self.second: "Acme Bank"])
            #expect(try await client.ask("DELETE", path).status == 204)
            #expect(try client.names() == [Self.second: "Acme Bank"])
            let again = try await client.register(
                CamaraClient.body(name: "Acme Bank", more: #","phoneNumberAlternate":"+61491570157""#))
            #expect(try client.names() == [Self.acme: "Acme Bank", Self.second: "Acme Bank"])
            // The change moves the registration to one number.
            let moved = try await client.ask("PUT", again, CamaraClient.body(Self.second))
            #expect(moved.status == 200, "\(moved.text)")
            #expect(try client.names() == [Self.second: "Acme Claims"])
        }
    }

    @Test func `a gateway gets the change with its next sync`() async throws {
        try await CamaraClient.run { client in
            let cursor = try await client.directory.sync().syncedAt
            let path = try await client.register()
            let named = try await client.directory.sync(since: cursor)
            #expect(named.branding.map(\.phoneNumber) == [Self.acme])
            #expect(named.branding.map(\.brandName) == ["Acme Claims"])
            #expect(try await client.ask("DELETE", path).status == 204)
            let ended = try await client.directory.sync(since: named.syncedAt)
            #expect(ended.branding.map(\.isActive) == [false])
        }
    }

    @Test func `only numbers and names of the account can be registered`() async throws {
        try await CamaraClient.run { client in
            let database = client.directory.database
            var dental = BrandList.Change()
            dental.name = "Harbour Dental"
            let other = try AccountList(database).create(name: "other", now: 0)
            _ = try BrandList(database, account: other).create(id: "dental", dental, now: client.directory.time.now)
            let rows: [(name: String, body: String, status: Int, code: String)] = [
                (
                    "not a number of the account", CamaraClient.body("+61491570158"), 404,
                    "GENERIC_404_IDENTIFIER_NOT_FOUND"
                ),
                ("five digits", CamaraClient.body("+61491"), 404, "GENERIC_404_IDENTIFIER_NOT_FOUND"),
                (
                    "alternate", CamaraClient.body(more: #","phoneNumberAlternate":"+61491570158""#), 404,
                    "GENERIC_404_IDENTIFIER_NOT_FOUND"
                ),
                (
                    "a brand of another account", CamaraClient.body(name: "Harbour Dental"), 422,
                    "SERVICE_NOT_APPLICABLE"
                ),
                ("no brand of any account", CamaraClient.body(name: "Harbour Deli"), 422, "SERVICE_NOT_APPLICABLE"),
                ("another case", CamaraClient.body(name: "ACME CLAIMS"), 422, "SERVICE_NOT_APPLICABLE"),
                (
                    "blocks calls", CamaraClient.body(more: #","callPurpose":"Do-Not-Originate""#), 422,
                    "SERVICE_NOT_APPLICABLE"
                ),
            ]
            for row in rows {
                let response = try await client.ask("POST", CamaraClient.registrations, row.body)
                #expect(response.isErrorInfo(row.status, row.code), "\(row.name): \(response.text)")
            }
            #expect(try client.names() == [Self.acme: "Acme Bank", Self.second: "Acme Bank"])
        }
    }

    @Test func `a number has one registration, and a refused one changes nothing`() async throws {
        try await CamaraClient.run { client in
            let first = try await client.register()
            let alternate = CamaraClient.body(
                Self.second, name: "Acme Claims", more: #","phoneNumberAlternate":"+61491570156""#)
            for body in [CamaraClient.body(), alternate] {
                let refused = try await client.ask("POST", CamaraClient.registrations, body)
                #expect(refused.isErrorInfo(409, "ALREADY_EXISTS"), "\(refused.text)")
            }
            let second = try await client.register(CamaraClient.body(Self.second))
            let refused = try await client.ask("PUT", second, CamaraClient.body(name: "Acme Bank"))
            #expect(refused.isErrorInfo(409, "ALREADY_EXISTS"), "\(refused.text)")
            #expect(try client.names() == [Self.acme: "Acme Claims", Self.second: "Acme Claims"])
            #expect(try await client.status(first) == "active")
            #expect(try await client.status(second) == "active")
        }
    }

    @Test func `the operator's change of a number wins, and its removal stays`() async throws {
        try await CamaraClient.run { client in
            let path = try await client.register()
            try client.directory.put(try entry(Self.acme))
            #expect(try await client.status(path) == "inactive")
            #expect(try await client.ask("DELETE", path).status == 204)
            #expect(try client.names()[Self.acme] == "Acme Bank", "the operator's brand stays")

            let next = try await client.register()
            try client.directory.deactivate(Self.acme)
            #expect(try await client.status(next) == "inactive")
            let changed = try await client.ask("PUT", next, CamaraClient.body())
            #expect(changed.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(changed.text)")
            #expect(try await client.ask("DELETE", next).status == 204)
            let refused = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body())
            #expect(refused.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(refused.text)")
            #expect(try client.names()[Self.acme] == nil)
        }
    }

    @Test func `a number that is removed after the end of its registration stays removed`() async throws {
        try await CamaraClient.run { client in
            #expect(try await client.ask("DELETE", try await client.register()).status == 204)
            try client.directory.put(try entry(Self.acme))
            try client.directory.deactivate(Self.acme)
            let refused = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body())
            #expect(refused.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(refused.text)")
        }
    }

    @Test func `a registration is active while both numbers have its name`() async throws {
        try await CamaraClient.run { client in
            let directory = client.directory
            let both = CamaraClient.body(more: #","phoneNumberAlternate":"+61491570157""#)
            let path = try await client.register(both)
            #expect(try await client.status(path) == "active")
            try directory.deactivate(Self.second)
            #expect(try await client.status(path) == "inactive", "its alternate number is removed")
            try directory.put(try entry(Self.second))
            #expect(try await client.status(path) == "inactive", "its alternate number has another brand")
            #expect(try await client.ask("PUT", path, both).object["status"] == .string("active"))

            var change = BrandList.Change()
            change.name = "Acme Insurance"
            _ = try BrandList(directory.database).change("claims", change, now: directory.time.now)
            #expect(try await client.status(path) == "inactive", "its brand has another name")
            let list = try await client.ask("GET", CamaraClient.registrations + "?status=active")
            #expect(list.object["registrations"] == .array([]))
            let renamed = try await client.ask("PUT", path, CamaraClient.body(name: "Acme Insurance"))
            #expect(renamed.object["status"] == .string("active"), "\(renamed.text)")
        }
    }

    @Test func `of two brands of one name a number keeps the one that it has`() async throws {
        try await CamaraClient.run { client in
            let (database, now) = (client.directory.database, client.directory.time.now)
            var change = BrandList.Change()
            change.name = "Acme Bank"
            // One identifier is before that of the number's brand, and one behind.
            for id in ["a-bank", "z-bank"] { _ = try BrandList(database).create(id: id, change, now: now) }
            func brands() throws -> [String: String] {
                let rows = try BrandNumbers(database).page(after: nil, limit: 9)
                return Dictionary(uniqueKeysWithValues: rows.map { ($0.number, $0.brandID) })
            }
            let path = try await client.register(CamaraClient.body(name: "Acme Bank"))
            #expect(try brands() == [Self.acme: "acme", Self.second: "acme"])
            try BrandNumbers(database).set(
                try #require(E164Number(Self.acme)), brandID: "z-bank", reason: nil, now: now)
            let changed = try await client.ask("PUT", path, CamaraClient.body(name: "Acme Bank"))
            #expect(changed.object["status"] == .string("active"), "\(changed.text)")
            #expect(try brands() == [Self.acme: "z-bank", Self.second: "acme"])
            _ = try await client.ask("PUT", path, CamaraClient.body())
            #expect(try brands()[Self.acme] == "claims")
            _ = try await client.ask("PUT", path, CamaraClient.body(name: "Acme Bank"))
            #expect(try brands()[Self.acme] == "a-bank")
        }
    }

    enum Removal: CaseIterable { case number, brand, file }

    @Test(arguments: Removal.allCases)
    func `a released number that the operator removes stays removed until it is set again`(removal: Removal)
        async throws
    {
        try await CamaraClient.run { client in
            let (database, now) = (client.directory.database, client.directory.time.now)
            #expect(try await client.ask("DELETE", try await client.register()).status == 204)
            switch removal {
            case .number:
                let number = try #require(E164Number(Self.acme))
                #expect(try BrandNumbers(database).deactivate([number], now: now) == 0)
            case .brand: #expect(try BrandList(database).deactivate(["claims"], now: now) == 0)
            case .file:
                var options = BrandImport.Options()
                options.replaces = true
                let file = "number,brand_name,brand_id\n\(Self.second),Acme Bank,acme\n"
                let result = try BrandImport(database) { E164Number($0) }.run(Array(file.utf8), options, now: now)
                #expect(result.isWritten && result.deactivated == 0)
            }
            for name in ["Acme Bank", "Acme Claims"] {
                let refused = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body(name: name))
                #expect(refused.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(name): \(refused.text)")
            }
            #expect(try client.names() == [Self.second: "Acme Bank"])
            try client.directory.put(try entry(Self.acme))
            #expect(try await client.status(try await client.register()) == "active")
        }
    }

    @Test func `a removed brand keeps its name for other numbers, and a suspended one does not`() async throws {
        try await CamaraClient.run { client in
            let (brands, now) = (BrandList(client.directory.database), client.directory.time.now)
            #expect(try brands.deactivate(["claims"], now: now) == 0)
            let path = try await client.register()
            #expect(try client.names()[Self.acme] == "Acme Claims")
            var change = BrandList.Change()
            change.owner = .suspended
            _ = try brands.change("claims", change, now: now)
            #expect(try await client.status(path) == "inactive")
            #expect(try client.names() == [Self.second: "Acme Bank"])
            let refused = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body(Self.second))
            #expect(refused.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(refused.text)")
        }
    }

    @Test func `a brand whose owner is suspended is not registered, and its held number not freed`() async throws {
        try await CamaraClient.run { client in
            var change = BrandList.Change()
            change.owner = .suspended
            let brands = BrandList(client.directory.database)
            _ = try brands.change("acme", change, now: client.directory.time.now)
            for name in ["Acme Bank", "Acme Claims"] {
                let refused = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body(name: name))
                #expect(refused.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(name): \(refused.text)")
            }
            #expect(try client.names().isEmpty)
        }
    }

    enum Ending: CaseIterable { case removal, change, expiry }

    @Test(arguments: Ending.allCases)
    func `a held number is not freed by the end of its registration`(ending: Ending) async throws {
        try await CamaraClient.run { client in
            let directory = client.directory
            let path = try await client.register(CamaraClient.body(more: #","expiresAt":"2026-01-03""#))
            var change = BrandList.Change()
            change.owner = .suspended
            let brands = BrandList(directory.database)
            _ = try brands.change("claims", change, now: directory.time.now)
            switch ending {
            case .removal: #expect(try await client.ask("DELETE", path).status == 204)
            case .change:
                let moved = try await client.ask("PUT", path, CamaraClient.body(Self.second, name: "Acme Bank"))
                #expect(moved.status == 200, "\(moved.text)")
            case .expiry:
                directory.time.now += 2 * 86_400
                _ = try await Registrations.expire(in: directory.database, now: directory.time.now)
            }
            for owner in [BrandList.Owner.suspended, .active] {
                change.owner = owner
                _ = try brands.change("claims", change, now: directory.time.now)
                let refused = try await client.ask(
                    "POST", CamaraClient.registrations, CamaraClient.body(name: "Acme Bank"))
                #expect(refused.isErrorInfo(422, "SERVICE_NOT_APPLICABLE"), "\(owner): \(refused.text)")
                #expect(try client.names() == [Self.second: "Acme Bank"])
            }
        }
    }

    @Test func `an expired registration takes its number out of use, and gives it free`() async throws {
        try await CamaraClient.run { client in
            let directory = client.directory
            let path = try await client.register(CamaraClient.body(more: #","expiresAt":"2026-01-03""#))
            #expect(try await Registrations.expire(in: directory.database, now: directory.time.now) == false)
            #expect(try await client.status(path) == "active")
            directory.time.now += 2 * 86_400
            #expect(try await client.status(path) == "expired")
            _ = try await Registrations.expire(in: directory.database, now: directory.time.now)
            #expect(try client.names() == [Self.second: "Acme Bank"])
            #expect(try await client.status(path) == "expired")
            // A later end brings it back, and so does a new registration in its place.
            let later = try await client.ask("PUT", path, CamaraClient.body(more: #","expiresAt":"2026-01-04""#))
            #expect(later.object["status"] == .string("active"), "\(later.text)")
            directory.time.now += 86_400
            _ = try await Registrations.expire(in: directory.database, now: directory.time.now)
            let next = try await client.register()
            #expect(try await client.status(next) == "active")
            #expect(try await client.ask("GET", path).status == 404)
            #expect(try client.names()[Self.acme] == "Acme Claims")
        }
    }

    @Test func `a number is free on the day of expiresAt, before the directory has looked`() async throws {
        try await CamaraClient.run { client in
            let old = try await client.register(
                CamaraClient.body(more: #","phoneNumberAlternate":"+61491570157","expiresAt":"2026-01-03""#))
            client.directory.time.now += 86_400
            let early = try await client.ask("POST", CamaraClient.registrations, CamaraClient.body(Self.second))
            #expect(early.isErrorInfo(409, "ALREADY_EXISTS"), "\(early.text)")
            client.directory.time.now += 86_400
            let next = try await client.register(CamaraClient.body(Self.second, name: "Acme Bank"))
            #expect(try await client.ask("GET", old).status == 404)
            #expect(try client.names() == [Self.second: "Acme Bank"], "its other number is out of use")
            let moved = try await client.ask("PUT", next, CamaraClient.body(name: "Acme Bank"))
            #expect(moved.object["status"] == .string("active"), "\(moved.text)")
            #expect(try client.names() == [Self.acme: "Acme Bank"])
        }
    }

    @Test func `an account sees and changes its own registrations alone`() async throws {
        try await CamaraClient.run { client in
            let path = try await client.register()
            let database = client.directory.database
            let other = try AccountList(database).create(name: "other", now: 0)
            let guest = try CamaraClient(client.directory, account: other)
            // It has a brand of the same name and identifier, and one number of its own.
            let own = "+61491570158"
            let claims = BrandEntries.Entry(
                number: try #require(E164Number(own)), name: "Acme Claims", brandID: "claims")
            _ = try BrandEntries(database, account: other).put([claims], now: client.directory.time.now)
            #expect(try await guest.ask("GET", path).isErrorInfo(404, "NOT_FOUND"))
            #expect(try await guest.ask("DELETE", path).isErrorInfo(404, "NOT_FOUND"))
            let changed = try await guest.ask("PUT", path, CamaraClient.body())
            #expect(changed.isErrorInfo(404, "BRAND_REGISTRATION.REGISTRATION_NOT_FOUND"), "\(changed.text)")
            #expect(try await guest.ask("GET").object["registrations"] == .array([]))
            let alternate = CamaraClient.body(own, more: #","phoneNumberAlternate":"+61491570156""#)
            for body in [CamaraClient.body(), CamaraClient.body(Self.second), alternate] {
                let foreign = try await guest.ask("POST", CamaraClient.registrations, body)
                #expect(foreign.isErrorInfo(404, "GENERIC_404_IDENTIFIER_NOT_FOUND"), "\(foreign.text)")
            }
            #expect(try client.names() == [Self.acme: "Acme Claims", Self.second: "Acme Bank"])
            #expect(try guest.names(other) == [own: "Acme Claims"])
            #expect(try await client.status(path) == "active")
            // With the number in both accounts each has its own registration.
            _ = try BrandEntries(database, account: other).put([try entry(Self.acme)], now: client.directory.time.now)
            let same = try await guest.register()
            #expect(try await guest.ask("DELETE", same).status == 204)
            #expect(try await client.status(path) == "active")
            #expect(try client.names() == [Self.acme: "Acme Claims", Self.second: "Acme Bank"])
            #expect(try guest.names(other) == [own: "Acme Claims"])
        }
    }

    @Test func `registrations outlive the program`() async throws {
        let folder = TemporaryFolder()
        let directory = try await RunningDirectory(folder: folder) { $0.offersRegistrations = true }
        try directory.put(try entry(Self.acme))
        let client = try CamaraClient(directory)
        let path = try await client.register(CamaraClient.body(name: "Acme Bank"))
        let token = try await client.token()
        try await directory.stop()
        let next = try await RunningDirectory(folder: folder, key: directory.key) { $0.offersRegistrations = true }
        let found = try await LoopbackClient.ask(
            RawRequest(path: path, headers: [("Authorization", "Bearer \(token)")]), port: next.port)
        #expect(found.status == 200 && found.object["status"] == .string("active"), "\(found.text)")
        try await next.stop()
    }
}
