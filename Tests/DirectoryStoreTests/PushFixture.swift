// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

/// A directory with a brand, whose calls make push messages.
struct PushFixture {
    static let brand = "+61491570156"
    static let person = "+61255501001"
    static let start = ManualTime.start

    let folder: TemporaryFolder
    let database: DirectoryDatabase

    init(_ folder: TemporaryFolder = TemporaryFolder()) throws {
        self.folder = folder
        database = try Engine.open(folder.path)
        database.pushes.set(true)
        _ = try BrandEntries(database).put(
            [entry(Self.brand, "Harbour Dental", reason: "Your appointment tomorrow")], now: Self.start)
    }

    var outbox: PushOutbox { PushOutbox(database) }
    var devices: PushDevices { PushDevices(database) }

    /// Another program of the same database.
    func reopened() throws -> PushOutbox { PushOutbox(try Engine.open(folder.path)) }

    static func number(_ text: String) throws -> E164Number { try #require(E164Number(text)) }

    /// Registers a device for a number, and confirms it.
    @discardableResult
    func add(
        _ device: String, _ number: String = person, confirmed: Bool = true, account: AccountID = .first
    ) async throws -> PushDevice {
        var registration = PushRegistration(device: device, platform: .android, address: "token-of-\(device)-0123")
        registration.numbers = [try Self.number(number)]
        let devices = PushDevices(database, account: account)
        let stored = try await devices.register(registration, now: Self.start)
        if confirmed { _ = try await devices.confirm(device, number: nil, now: Self.start) }
        return stored
    }

    /// Registers devices for the person's number in one transaction, and confirms them.
    func addAtOnce(_ count: Int) async throws {
        let number = try Self.number(Self.person)
        try await database.pool.write { database in
            for place in 0..<count {
                let device = "device-\(10_000 + place)"
                try PushDevices.store(
                    PushRegistration(device: device, platform: .web, address: "address of \(device)"),
                    keepsConfirmed: false, .first, most: 0, now: Self.start, database)
                try PushDevices.add(number, to: device, .first, database)
                try PushDevices.confirm(number, of: device, .first, by: "operator", now: Self.start, database)
            }
        }
    }

    /// The event of a call's end, in the form of docs/events.md.
    static func event(
        _ outcome: String, _ callOutcome: String? = nil, call: String = "0f3c9a52-77de-41b0-8a6e-5d2b90c1e834",
        to called: String? = person
    ) -> EventRequest {
        var event = EventRequest(phoneNumber: brand, outcome: outcome, eventKey: "\(outcome):\(call)")
        event.meta = ["call_event_id": .string(call), "caller_number_e164": .string(brand)]
        event.meta?["destination_number_e164"] = called.map { .string($0) }
        event.meta?["call_outcome"] = callOutcome.map { .string($0) }
        return event
    }

    func report(_ event: EventRequest, account: AccountID = .first, now: Int64 = start) async throws {
        _ = try await EventLedger(database, account: account).record(event, now: now)
    }

    func missed(_ call: String = "0f3c9a52-77de-41b0-8a6e-5d2b90c1e834", to called: String = person) async throws {
        try await report(Self.event("missed", "MISSED", call: call, to: called))
    }

    /// Finds the devices of all messages, and leases what is due.
    func due(_ outbox: PushOutbox? = nil, now: Int64 = start, most: Int = 10_000) async throws -> [PushDelivery] {
        let outbox = outbox ?? self.outbox
        while try await outbox.fanOut(now: now) {}
        return try await outbox.lease(most, now: now)
    }

    /// Rows of a table that match a condition.
    func count(_ table: String, _ condition: String = "true") throws -> Int {
        try database.pool.read { database in
            try database.value(Int.self, "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
        }
    }
}
