// SPDX-License-Identifier: Apache-2.0

import DirectoryFixtures
import Foundation
import Synchronization
import TestFixtures
import Testing
import WebPages

@testable import DirectoryServer
@testable import DirectoryStore

/// An operator with a browser, as far as the tests need one.
struct PageVisitor: Sendable {
    let directory: RunningDirectory
    let adminKey: String
    let cookie: String
    let token: String

    /// Runs a server with pages and logs in for as long as `body` takes.
    static func run(
        edit: (inout DirectoryServer.Options) -> Void = { _ in },
        _ body: @escaping @Sendable (PageVisitor) async throws -> Void
    ) async throws {
        try await RunningDirectory.run(edit: {
            $0.pages = .loopback
            $0.version = "9.8.7"
            $0.importPatience = .seconds(120)
            edit(&$0)
        }) { directory in
            let key = try AdminKeys(directory.database).create(name: "portal", now: 1)
            try await body(try await logIn(directory, key: key))
        }
    }

    static func logIn(_ directory: RunningDirectory, key: String) async throws -> PageVisitor {
        let form = try await get("/login", on: directory)
        let done = try await send(
            "POST", "/login", on: directory, cookie: try #require(form.newCookie),
            body: "token=\(form.formToken)&secret=\(key)")
        let cookie = try #require(done.newCookie)
        let first = try await get("/", on: directory, cookie: cookie)
        return PageVisitor(directory: directory, adminKey: key, cookie: cookie, token: first.formToken)
    }

    static func get(_ path: String, on directory: RunningDirectory, cookie: String = "") async throws
        -> ReceivedResponse
    {
        try await send("GET", path, on: directory, cookie: cookie, body: "")
    }

    static func send(
        _ method: String, _ path: String, on directory: RunningDirectory, cookie: String,
        headers: [(name: String, value: String)] = [], body: String
    ) async throws -> ReceivedResponse {
        let own: [(name: String, value: String)] = cookie.isEmpty ? [] : [("Cookie", cookie)]
        return try await LoopbackClient.ask(
            RawRequest(method: method, path: path, headers: own + headers, body: Array(body.utf8)),
            port: directory.adminPort > 0 ? directory.adminPort : directory.port)
    }

    func get(_ path: String) async throws -> ReceivedResponse {
        try await Self.get(path, on: directory, cookie: cookie)
    }

    /// Submits a form with the token of the session, or another one.
    func post(
        _ path: String, _ fields: KeyValuePairs<String, String> = [:], token: String? = nil
    ) async throws -> ReceivedResponse {
        let all = [("token", token ?? self.token)] + fields.map { ($0.key, $0.value) }
        let body = all.map { "\($0.0)=\(PagePath.encoded($0.1))" }.joined(separator: "&")
        return try await Self.send("POST", path, on: directory, cookie: cookie, body: body)
    }

    /// Sends a file as the script of the pages does.
    func send(file: String, to path: String, token: String? = nil) async throws -> ReceivedResponse {
        try await Self.send(
            "POST", path, on: directory, cookie: cookie, headers: [("X-Form-Token", token ?? self.token)], body: file)
    }

    /// Follows a redirect of the site.
    func follow(_ response: ReceivedResponse) async throws -> ReceivedResponse {
        #expect(response.status == 303, "\(response.text)")
        return try await get(response.headers["location"] ?? "/")
    }
}

extension ReceivedResponse {
    /// The form token in a page.
    var formToken: String { text.firstMatch(of: /data-token="([^"]*)"/).map { String($0.1) } ?? "" }

    /// `name=value` of the cookie that the response sets.
    var newCookie: String? { headers["set-cookie"]?.split(separator: ";").first.map(String.init) }

    /// The text beside a field.
    func problem(_ field: String) -> String? {
        guard let start = text.range(of: "name=\"\(field)\""),
            let end = text.range(of: "</p>", range: start.upperBound..<text.endIndex)
        else { return nil }
        return text[start.upperBound..<end.lowerBound].firstMatch(of: /class="problem"[^>]*>([^<]*)</).map {
            String($0.1)
        }
    }
}

/// The delays of responses to wrong keys, in place of waiting.
final class Pauses: Sendable {
    private let state = Mutex<[Duration]>([])
    var all: [Duration] { state.withLock { $0 } }
    func add(_ pause: Duration) { state.withLock { $0.append(pause) } }
}
