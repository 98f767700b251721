// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

extension RunningDirectory {
    /// Asks with the good key, unless headers say otherwise.
    func ask(
        _ path: String, method: String = "GET", headers: [String: String] = [:], body: String = ""
    ) async throws -> ReceivedResponse {
        var all = ["X-API-Key": key]
        all.merge(headers) { $1 }
        return try await LoopbackClient.ask(
            RawRequest(method: method, path: path, headers: all.map { ($0.key, $0.value) }, body: Array(body.utf8)),
            port: port)
    }

    func post(_ path: String, _ body: String) async throws -> ReceivedResponse {
        try await ask(path, method: "POST", headers: ["Content-Type": "application/json"], body: body)
    }

    /// A sync from `since`, which is nil for a full one, with what is out of use.
    func sync(since: String? = nil) async throws -> SyncResponse {
        let response = try await ask(
            "/api/" + APIPath.sync + "?include_inactive=true" + (since.map { "&since=\($0)" } ?? ""))
        try #require(response.status == 200, "\(response.text)")
        return try response.decoded()
    }

    /// Posts an event; the response must be a success.
    func report(_ outcome: String, number: String = "+61491570156", key: String? = nil) async throws -> EventResponse {
        let event = EventRequest(phoneNumber: number, outcome: outcome, eventKey: key)
        let response = try await post(
            "/" + APIPath.event, String(decoding: try JSONEncoder().encode(event), as: UTF8.self))
        try #require(response.status == 200, "\(response.text)")
        return try response.decoded()
    }

    /// Puts brands into the database, each named after its number.
    func put(_ numbers: String..., name: String? = nil, logo: String? = nil, reason: String? = nil) throws {
        _ = try BrandEntries(database).put(
            try numbers.map { number in
                BrandEntries.Entry(
                    number: try #require(E164Number(number)), name: name ?? "Brand \(number)", brandID: "brand-1",
                    logoURL: logo, callReason: reason)
            }, now: time.now)
    }

    func deactivate(_ number: String) throws {
        #expect(try BrandEntries(database).deactivate(try #require(E164Number(number)), now: time.now))
    }

    /// Changes the account.
    func change(_ edit: (inout AccountStore.Change) -> Void) throws {
        var change = AccountStore.Change()
        edit(&change)
        try AccountStore(database).change(change)
    }

    /// Puts whole entries into the database.
    @discardableResult
    func put(_ entries: BrandEntries.Entry...) throws -> BrandEntries.PutResult {
        try BrandEntries(database).put(entries, now: time.now)
    }

    /// Posts a whole event; the response must be a success.
    func event(_ request: EventRequest) async throws -> EventResponse {
        let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        let response = try await post("/" + APIPath.event, body)
        try #require(response.status == 200, "\(response.text)")
        return try response.decoded()
    }
}
