// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Devices for push messages", .timeLimit(.minutes(8)), .bothEngines)
struct PushDeviceTests {
    private static let start = PushFixture.start

    @Test func `a second registration keeps numbers, confirmations and choices`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        _ = try await fixture.devices.change(.id("desk")) { $0.brandChanged = false }
        var again = PushRegistration(device: "desk", platform: .android, address: "token-of-desk-0123")
        again.appVersion = "1.3.0"
        let device = try await fixture.devices.register(again, now: Self.start + 9)
        #expect(device.isConfirmed && device.numbers.count == 1 && device.appVersion == "1.3.0")
        #expect(!device.preferences.brandChanged && device.created == Self.start)
        again.numbers = [try PushFixture.number("+61255501002"), try PushFixture.number(PushFixture.person)]
        let more = try await fixture.devices.register(again, now: Self.start)
        #expect(more.numbers.map(\.number.description) == [PushFixture.person, "+61255501002"])
        #expect(more.numbers.map { $0.confirmed != nil } == [true, false])
        again.numbers = []
        #expect(try await fixture.devices.register(again, now: Self.start).numbers.isEmpty)
    }

    @Test func `another token of a device makes its numbers wait again`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        let foreign = PushRegistration(device: "desk", platform: .android, address: "token-of-a-thief-0123")
        let device = try await fixture.devices.register(foreign, now: Self.start)
        #expect(device.numbers.count == 1 && !device.isConfirmed)
        try await fixture.missed()
        #expect(try fixture.count("push_message") == 0)
    }

    @Test func `messages that wait do not follow a device to another token`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        try await fixture.missed("a-1")
        let delivery = try #require(try await fixture.due().first)
        try await fixture.missed("a-2")
        while try await fixture.outbox.fanOut(now: Self.start) {}
        let foreign = PushRegistration(device: "desk", platform: .android, address: "token-of-a-thief-0123")
        _ = try await fixture.devices.register(foreign, now: Self.start)
        try await fixture.outbox.postpone(delivery, until: Self.start)
        #expect(try await fixture.due(now: Self.start + PushOutbox.lease).isEmpty)
        #expect(try fixture.count("push_delivery", "state = 'ended'") == 2)
    }

    @Test func `a token belongs to one device of an account, and an account has a limit`() async throws {
        let fixture = try PushFixture()
        try await fixture.add("desk")
        let other = PushRegistration(device: "phone", platform: .android, address: "token-of-desk-0123")
        await #expect(throws: PushError.addressTaken) { try await fixture.devices.register(other, now: Self.start) }
        let next = PushRegistration(device: "phone", platform: .android, address: "token-of-phone-0123")
        await #expect(throws: StoreError.tooManyDevices(1)) {
            try await fixture.devices.register(next, most: 1, now: Self.start)
        }
        var many = next
        many.numbers = try (0...PushLimits.numbersPerDevice).map { try PushFixture.number("+612555010\(10 + $0)") }
        let tooMany = many
        await #expect(throws: PushError.tooManyNumbers) {
            try await fixture.devices.register(tooMany, now: Self.start)
        }
        #expect(try fixture.count("push_device") == 1)
    }

    @Test func `a list has the devices of a number`() async throws {
        let fixture = try PushFixture()
        for device in ["a", "b", "c"] {
            try await fixture.add(device, device == "b" ? "+61255501002" : PushFixture.person)
        }
        let number = try PushFixture.number(PushFixture.person)
        #expect(try await fixture.devices.page(after: nil, limit: 9, number: number).map(\.id) == ["a", "c"])
        #expect(try await fixture.devices.page(after: "a", limit: 1).map(\.id) == ["b"])
        try await fixture.devices.remove(.id("a"))
        await #expect(throws: PushError.unknownDevice) { try await fixture.devices.device(.id("a")) }
        #expect(try fixture.count("push_number") == 2)
    }

    @Test func `an invitation confirms its number once, and only in its time`() async throws {
        let fixture = try PushFixture()
        let invitations = PushInvitations(fixture.database)
        let number = try PushFixture.number(PushFixture.person)
        let link = try await invitations.invite(number, of: .first, expires: Self.start + 60, now: Self.start)
        let browser = PushRegistration(device: "ignored", platform: .web, address: "a subscription")
        await #expect(throws: PushError.badInvitation) {
            try await invitations.redeem("hi_guessed", browser, now: Self.start)
        }
        await #expect(throws: PushError.badInvitation) {
            try await invitations.redeem(link, browser, now: Self.start + 60)
        }
        let redeemed = try await invitations.redeem(link, browser, now: Self.start + 59)
        #expect(redeemed.device.id.hasPrefix("web-") && redeemed.device.numbers.map(\.by) == ["invitation"])
        await #expect(throws: PushError.badInvitation) {
            try await invitations.redeem(link, browser, now: Self.start + 59)
        }
        #expect(try await invitations.device(ofSecret: redeemed.secret).device.id == redeemed.device.id)
        try await fixture.missed()
        #expect(try await fixture.due().map(\.address) == ["a subscription"])
    }

    @Test func `a browser with a second invitation keeps its device, and its secret moves it`() async throws {
        let fixture = try PushFixture()
        let invitations = PushInvitations(fixture.database)
        let browser = PushRegistration(device: "", platform: .web, address: "a subscription")
        var secrets: [String] = []
        for number in [PushFixture.person, "+61255501002"] {
            let link = try await invitations.invite(
                try PushFixture.number(number), of: .first, expires: Self.start + 60, now: Self.start)
            secrets.append(try await invitations.redeem(link, browser, now: Self.start).secret)
        }
        #expect(try fixture.count("push_device") == 1 && fixture.count("push_number", "confirmed IS NOT NULL") == 2)
        await #expect(throws: PushError.badSecret) { try await invitations.device(ofSecret: secrets[0]) }
        let moved = try await invitations.move(secrets[1], to: "its next subscription", now: Self.start)
        #expect(moved.address == "its next subscription" && moved.numbers.allSatisfy { $0.confirmed != nil })
        try await PushDevices(fixture.database).remove(.id(moved.id))
        await #expect(throws: PushError.badSecret) { try await invitations.device(ofSecret: secrets[1]) }
    }

    @Test func `secrets of links and browsers are stored as hashes`() async throws {
        let fixture = try PushFixture()
        let link = try await PushInvitations(fixture.database).invite(
            try PushFixture.number(PushFixture.person), of: .first, expires: Self.start + 60, now: Self.start)
        let hash = try await fixture.database.pool.read { try $0.value(Data.self, "SELECT hash FROM push_invitation") }
        #expect(hash == SecretHash.of(link) && link.utf8.count == 51)
    }
}

@Suite("Queries of push messages")
struct PushQueryTests {
    /// SQLite has no statistics of the tables, and chooses by their keys and indexes alone.
    @Test(arguments: [
        "SELECT number, confirmed, confirmed_by FROM push_number WHERE account = ? AND device_id = ? ORDER BY number",
        "SELECT min(confirmed) FROM push_number WHERE account = ? AND device_id = ?",
        """
        SELECT device_id, EXISTS (SELECT 1 FROM push_number WHERE push_number.account = push_device.account
            AND push_number.device_id = push_device.device_id AND confirmed IS NOT NULL) FROM push_device
        """,
        "DELETE FROM push_number WHERE account = ? AND device_id = ?",
    ])
    func `the numbers of a device are found without a walk through those of its account`(sql: String) throws {
        let database = try DirectoryDatabase(folder: TemporaryFolder().path)
        let arguments = [SQLValue](repeating: .integer(0), count: sql.count { $0 == "?" })
        let plan = try database.pool.write { database in
            try database.rows("EXPLAIN QUERY PLAN " + sql, SQLArguments(arguments)).map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.hasSuffix("INDEX push_number_device (account=? AND device_id=?)") }, "\(plan)")
    }
}
