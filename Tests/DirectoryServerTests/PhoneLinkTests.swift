// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import DirectoryServer
import Foundation
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("Links for phones", .timeLimit(.minutes(8)), .bothEngines)
struct PhoneLinkTests {
    private static let number = "+61491570156"
    private static let mobile = ["mobile-ios", "mobile-android"]
    /// A mobile client; nil for the published SDKs, which send no client type.
    private static func header(_ type: String?) -> [String: String] { type.map { [ClientType.header: $0] } ?? [:] }

    private static func run(_ body: @escaping @Sendable (RunningDirectory) async throws -> Void) async throws {
        try await RunningDirectory.run { directory in
            try directory.put(entry(number))
            try await body(directory)
        }
    }

    private static let event = #"{"phone_number_e164":"+61491570156","outcome":"missed","event_key":"k"}"#

    private static func report(_ directory: RunningDirectory, as type: String?) async throws -> ReceivedResponse {
        try await directory.ask(
            "/" + APIPath.event, method: "POST",
            headers: ["Content-Type": "application/json"].merging(header(type)) { $1 }, body: event)
    }

    // Source: mobile-api, "Deep Link Patterns": a link is in the response when the client type is mobile.
    @Test(arguments: mobile)
    func `lookups, syncs and events of a mobile client have a link`(type: String) async throws {
        try await Self.run { directory in
            let lookup = try await directory.ask(
                "/mobile/branding/lookup?e164=%2B61491570156", headers: Self.header(type))
            #expect(lookup.object["deep_link"] == .string("herald://brand/acme"))
            #expect(lookup.headers["vary"] == ClientType.header)
            let miss = try await directory.ask(
                "/mobile/branding/lookup?e164=%2B61491570199", headers: Self.header(type))
            #expect(miss.object["deep_link"] == .string("herald://number/+61491570199"))
            let open = try await directory.ask(
                "/mobile/branding/lookup?e164=%2B61491570156&format=public", headers: Self.header(type))
            #expect(open.object["deep_link"] == .string("herald://brand/acme"))
            #expect(open.headers["vary"] == ClientType.header)
            let sync = try await directory.ask("/mobile/branding/sync", headers: Self.header(type))
            #expect(sync.text.contains(#""deep_link":"herald://brand/acme"}"#))
            let event = try await Self.report(directory, as: type)
            let id = try #require(event.text("event_id"))
            #expect(event.object["deep_link"] == .string("herald://call/\(id)"))
            let batch = try await directory.ask(
                "/" + APIPath.batch, method: "POST",
                headers: ["Content-Type": "application/json"].merging(Self.header(type)) { $1 },
                body: #"{"operations":[{"type":"create","resource":"event","data":\#(Self.event)}]}"#)
            #expect(batch.text.contains(#""deep_link":"herald://call/\#(id)""#))
        }
    }

    // The published SDKs send no client type, and their schemas are closed.
    @Test(arguments: [nil, "web", "herald"])
    func `other clients have no link, and the published shapes`(type: String?) async throws {
        try await Self.run { directory in
            try directory.change { $0.hasCards = true }
            for path in [
                "mobile/branding/lookup?e164=%2B61491570156", "mobile/branding/lookup?e164=%2B61491570199",
                "mobile/branding/lookup?e164=%2B61491570156&format=public", "mobile/branding/sync",
            ] {
                let response = try await directory.ask("/" + path, headers: Self.header(type))
                #expect(!response.text.contains("deep_link"), "\(path)")
                let plain = path.split(separator: "?")[0]
                #expect(PublishedShapes.problem(of: response, to: "GET", String(plain)) == nil, "\(path)")
            }
            let event = try await Self.report(directory, as: type)
            #expect(!event.text.contains("deep_link"))
            #expect(PublishedShapes.problem(of: event, to: "POST", APIPath.event) == nil)
        }
    }

    @Test func `gateways alone get the template of cards, while the switch is on`() async throws {
        try await Self.run { directory in
            func template(_ type: String?) async throws -> JSONValue? {
                let sync = try await directory.ask("/mobile/branding/sync", headers: Self.header(type))
                guard case .object(let config) = sync.object["config"] else { return nil }
                return config["card_url"]
            }
            #expect(try await template("herald") == nil)
            try directory.change { $0.hasCards = true }
            #expect(try await template("herald") == .string("https://brands.example/b/{brand_id}"))
            for type in [nil, "web", "mobile-ios"] { #expect(try await template(type) == nil) }
        }
    }

    @Test func `a gateway that polls learns of the switch, and its tag is not that of a phone`() async throws {
        try await Self.run { directory in
            func sync(_ type: String?, _ tag: String?) async throws -> ReceivedResponse {
                try await directory.ask(
                    "/mobile/branding/sync",
                    headers: Self.header(type).merging(tag.map { ["If-None-Match": $0] } ?? [:]) { $1 })
            }
            let tag = try #require(try await sync("herald", nil).headers["etag"])
            #expect(try await sync("herald", tag).status == 304)
            #expect(try await sync("mobile-ios", tag).status == 200)
            #expect(try await sync(nil, tag).status == 200)
            directory.time.now += 1
            try directory.change { $0.hasCards = true }
            let changed = try await sync("herald", tag)
            #expect(changed.status == 200 && changed.headers["vary"]?.contains("X-Client-Type") == true)
        }
    }

    // Source: mobile-api, "Verify Deep Link", with the things of a branding directory.
    @Test func `a link is checked as published`() async throws {
        try await Self.run { directory in
            try directory.change { $0.hasCards = true }
            let id = try #require(try await Self.report(directory, as: "mobile-ios").text("event_id"))
            let card = JSONValue.string("https://brands.example/b/acme")
            let cases: [(query: String, link: String, url: JSONValue, isValid: Bool)] = [
                ("type=brand&id=acme", "herald://brand/acme", card, true),
                ("type=brand&id=nobody", "herald://brand/nobody", .null, false),
                ("type=number&id=%2B61491570156", "herald://number/+61491570156", card, true),
                ("type=number&id=+61491570156", "herald://number/+61491570156", card, true),
                ("type=number&id=%2B61491570199", "herald://number/+61491570199", .null, false),
                ("type=number&id=nonsense", "herald://number/nonsense", .null, false),
                ("type=call&id=\(id)", "herald://call/\(id)", card, true),
                ("type=call&id=unknown", "herald://call/unknown", .null, false),
                ("type=brand&id=%22%3E%3Cscript%3E", "herald://brand/%22%3E%3Cscript%3E", .null, false),
            ]
            for (query, link, url, isValid) in cases {
                let response = try await directory.ask(
                    "/mobile/test/deep-link?\(query)", headers: Self.header("mobile-ios"))
                #expect(response.status == 200)
                #expect(
                    response.object == ["deep_link": .string(link), "web_url": url, "valid": .bool(isValid)], "\(query)"
                )
            }
            try directory.change { $0.hasCards = false }
            let off = try await directory.ask("/api/mobile/test/deep-link?type=brand&id=acme")
            #expect(off.object["web_url"] == .null && off.object["valid"] == .bool(true))
        }
    }

    // One call has one link, in the response to each of its events as in a push message.
    @Test(arguments: ["0f3c9a52-77de-41b0-8a6e-5d2b90c1e834", "call 1", "x\\\"y", ""])
    func `the link to a call has its call_event_id, where that is an identifier`(call: String) async throws {
        try await Self.run { directory in
            try directory.change { $0.hasCards = true }
            let body =
                #"{"phone_number_e164":"+61491570156","outcome":"call_seen","meta":{"call_event_id":"\#(call)","a":1}}"#
            let headers = ["Content-Type": "application/json"].merging(Self.header("mobile-ios")) { $1 }
            let event = try await directory.ask("/" + APIPath.event, method: "POST", headers: headers, body: body)
            let id = try #require(event.text("event_id"))
            let named = call.hasPrefix("0f3c") ? call : id
            #expect(event.object["deep_link"] == .string("herald://call/\(named)"))
            let batch = try await directory.ask(
                "/" + APIPath.batch, method: "POST", headers: headers,
                body: #"{"operations":[{"type":"create","resource":"event","data":\#(body)}]}"#)
            #expect(batch.text.contains("herald://call/\(named)") == call.hasPrefix("0f3c"))
            for name in [named, id] {
                let checked = try await directory.ask("/mobile/test/deep-link?type=call&id=\(name)")
                #expect(checked.object["valid"] == .bool(true), "\(name)")
                #expect(checked.object["web_url"] == .string("https://brands.example/b/acme"))
            }
            let part = try await directory.ask("/mobile/test/deep-link?type=call&id=\(named.dropLast())")
            #expect(part.object["valid"] == .bool(false))
        }
    }

    @Test func `a link of a push message is valid also without its event`() async throws {
        try await Self.run { directory in
            try await directory.database.pool.write { database in
                _ = try database.execute(
                    """
                    INSERT INTO push_message (account, topic, key, brand_id, sent_at, expires, open)
                    VALUES (?, 'missed_call', 'call-1', 'acme', 1, 2, FALSE),
                    (?, 'brand_changed', 'key-2', 'acme', 1, 2, FALSE)
                    """, [AccountID.first.row, AccountID.first.row])
            }
            for (id, isValid) in [("call-1", true), ("key-2", false), ("CALL-1", false)] {
                let checked = try await directory.ask("/mobile/test/deep-link?type=call&id=\(id)")
                #expect(checked.object["valid"] == .bool(isValid), "\(id)")
            }
        }
    }

    @Test func `a link of another account's call is not valid`() async throws {
        try await Self.run { directory in
            let other = try AccountList(directory.database).create(name: "other", now: 1)
            let key = try AccountStore(directory.database, account: other).createKey(name: "other", now: 1)
            let id = try #require(try await Self.report(directory, as: nil).text("event_id"))
            _ = try await directory.post(
                "/" + APIPath.event, #"{"phone_number_e164":"+61491570156","meta":{"call_event_id":"call-1"}}"#)
            for query in [
                "type=call&id=\(id)", "type=call&id=call-1", "type=brand&id=acme", "type=number&id=%2B61491570156",
            ] {
                let response = try await directory.ask(
                    "/mobile/test/deep-link?\(query)", headers: ["X-API-Key": key])
                #expect(response.object["valid"] == .bool(false), "\(query)")
            }
        }
    }

    @Test(arguments: [
        ("type=story&id=x", 422, "INVALID_LINK_TYPE"), ("id=x", 422, "INVALID_LINK_TYPE"),
        ("type=brand", 400, "bad_request"), ("type=brand&id=", 400, "bad_request"),
        ("type=brand&id=..", 400, "bad_request"), ("type=brand&id=%00", 400, "bad_request"),
        ("type=call&id=" + String(repeating: "a", count: 257), 400, "bad_request"),
    ])
    func `a query that names no link is refused`(query: String, status: Int, code: String) async throws {
        try await Self.run { directory in
            let response = try await directory.ask("/mobile/test/deep-link?\(query)")
            #expect(response.status == status && response.isEnvelope(code))
        }
    }

    @Test func `the scheme is the operator's, from the next request on`() async throws {
        var clients = ClientSettings()
        clients.linkScheme = "acme"
        try await RunningDirectory.run(clients: clients) { directory in
            try directory.put(entry(Self.number))
            let sync = try await directory.ask("/mobile/branding/sync", headers: Self.header("mobile-ios"))
            #expect(sync.text.contains(#""deep_link":"acme://brand/acme""#))
        }
    }

    // Sources: Apple, "Supporting associated domains"; Google, Digital Asset Links.
    @Test func `the files of associated apps are JSON of the published form`() async throws {
        let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
        var links = AppLinks()
        links.iosApps = ["ABCDE12345.com.example.phone"]
        links.androidApps = [.init(package: "com.example.phone", fingerprints: [fingerprint])]
        try await RunningDirectory.run(
            publicURL: "https://brands.example/dir/", edit: { [links] in $0.policies.links = links },
            { directory in
                let none = ["X-API-Key": ""]
                let apple = try await directory.ask("/.well-known/apple-app-site-association", headers: none)
                #expect(apple.status == 200 && apple.headers["content-type"] == "application/json")
                #expect(
                    try JSONValue(parsing: apple.body)
                        == JSONValue(
                            parsing: Array(
                                """
                                {"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.phone"],
                                "components":[{"/":"/dir/b/*","comment":"Brand cards"}]}]}}
                                """.utf8)))
                let android = try await directory.ask("/.well-known/assetlinks.json", headers: none)
                #expect(android.status == 200 && android.headers["content-type"] == "application/json")
                #expect(
                    try JSONValue(parsing: android.body)
                        == JSONValue(
                            parsing: Array(
                                """
                                [{"relation":["delegate_permission/common.handle_all_urls"],"target":
                                {"namespace":"android_app","package_name":"com.example.phone",
                                "sha256_cert_fingerprints":["\(fingerprint)"]}}]
                                """.utf8)))
            })
    }

    @Test func `without an app there is no file`() async throws {
        try await RunningDirectory.run { directory in
            for name in ["apple-app-site-association", "assetlinks.json"] {
                let response = try await directory.ask("/.well-known/" + name)
                #expect(response.status == 404 && response.isEnvelope("not_found"))
            }
        }
    }
}
