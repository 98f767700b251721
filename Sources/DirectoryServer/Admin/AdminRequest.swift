// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import Foundation
import Host
import Hummingbird

/// A request of the operator, with access to its path and query.
struct AdminRequest: Sendable {
    let database: DirectoryDatabase
    let request: Request
    let parameters: Parameters

    /// Runs blocking work outside the event loops and the cooperative pool.
    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await database.operatorWork.run { _ in try body() }
    }

    /// Runs work of seconds or minutes below all other threads, in rounds with other such work.
    func longWork<Value: Sendable>(_ body: @escaping @Sendable (WorkTurn) throws -> Value) async throws -> Value {
        try await database.longWork.run(body)
    }

    /// A part of the path, percent-decoded.
    func pathPart(_ name: String) throws -> String {
        guard let text = parameters.get(name)?.removingPercentEncoding, !text.isEmpty else {
            throw Refusal.notFound("There is nothing here")
        }
        return text
    }

    /// The account in the path.
    func account() async throws -> AccountID {
        let reference = try pathPart("account")
        return try await blocking { [database] in try AccountList(database).find(reference) }
    }

    /// The number in the path.
    func number() throws -> E164Number {
        guard let number = E164Number(try pathPart("number")) else {
            throw Refusal.badRequest("The number in the path must be such as %2B61491570156")
        }
        return number
    }

    /// A query parameter; nil if missing or empty.
    ///
    /// A bare plus arrives as a blank; `number` and `time` restore it, because many programs do not encode it.
    func text(_ name: Substring) -> String? {
        guard let value = request.uri.queryParameters[name], !value.isEmpty else { return nil }
        return String(value)
    }

    /// A number in the query.
    func number(_ name: Substring) throws -> E164Number? {
        guard let text = text(name)?.replacing(" ", with: "+") else { return nil }
        guard let number = E164Number(text) else {
            throw Refusal.badRequest("\(name) must be a number such as %2B61491570156")
        }
        return number
    }

    /// `true` or `false` in the query.
    func flag(_ name: Substring) throws -> Bool? {
        switch text(name) {
        case nil: nil
        case "true": true
        case "false": false
        default: throw Refusal.badRequest("\(name) must be true or false")
        }
    }

    /// A time in the query, in seconds since 1970.
    func time(_ name: Substring) throws -> Int64? {
        guard let text = text(name)?.replacing(" ", with: "+") else { return nil }
        guard let seconds = Timestamp.seconds(from: text) else {
            throw Refusal.badRequest("\(name) is no ISO 8601 time")
        }
        return seconds
    }

    /// One of a set of values in the query.
    func choice<Choice: RawRepresentable & CaseIterable>(_ name: Substring) throws -> Choice?
    where Choice.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal.badRequest("\(name) must be one of \(choices)")
        }
        return choice
    }

    /// The rows of a page: 1 to 1000, 100 by default.
    func limit() throws -> Int {
        guard let text = text("limit") else { return 100 }
        guard let limit = Int(text), (1...1000).contains(limit) else {
            throw Refusal.badRequest("limit must be 1 to 1000")
        }
        return limit
    }
}

/// The rows of a page, and the `after` of the next page; nil at the end.
struct AdminPage<Item: Encodable>: Encodable {
    var success = true
    let items: [Item]
    var next: String?

    init(_ items: [Item], next: String? = nil) {
        self.items = items
        self.next = next
    }
}

/// The response to an operation without further results.
struct AdminDone: Encodable {
    var success = true
    /// The count of changed objects.
    var changed: Int?
}
