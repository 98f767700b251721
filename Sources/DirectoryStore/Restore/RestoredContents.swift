// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GRDB

/// The contents of a backup in figures, by which a person recognises it.
package struct RestoredContents: Hashable, Sendable, Codable {
    package let accounts: Int
    package let brands: Int
    /// Active numbers.
    package let numbers: Int
    /// API keys in force.
    package let keys: Int
    package let events: Int
    /// ISO 8601; nil without an event.
    package let lastEvent: String?

    package enum CodingKeys: String, CodingKey {
        case accounts, brands, numbers, keys, events
        case lastEvent = "last_event"
    }

    init(_ database: Database) throws {
        func count(_ rows: String) throws -> Int {
            try Int.fetchOne(database, sql: "SELECT count(*) FROM " + rows) ?? 0
        }
        accounts = try count("account")
        brands = try count("brand")
        numbers = try count("brand_number WHERE active")
        keys = try count("api_key WHERE revoked IS NULL")
        events = try count("event")
        let last = try Int64.fetchOne(database, sql: "SELECT max(received) FROM event")
        lastEvent = last.map { Timestamp.string(from: $0) }
    }

    /// The figures as a part of a sentence.
    package var text: String {
        "\(accounts) accounts, \(brands) brands, \(numbers) numbers, \(keys) keys, \(events) events"
            + (lastEvent.map { ", the last one of \($0)" } ?? "")
    }
}
