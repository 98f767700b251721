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

    /// Sends a form with a file, as browsers do.
    func send(
        file: String, to path: String, _ fields: KeyValuePairs<String, String> = [:], token: String? = nil
    ) async throws -> ReceivedResponse {
        let all = [("token", token ?? self.token)] + fields.map { ($0.key, $0.value) }
        return try await send(path, all, files: ["file": Array(file.utf8)])
    }

    /// Sends fields and files as `multipart/form-data`.
    fileprivate func send(
        _ path: String, _ fields: [(String, String)], files: [String: [UInt8]]
    ) async throws -> ReceivedResponse {
        let boundary = "----formboundary\(UInt64.random(in: .min ... .max))"
        var body: [UInt8] = []
        for (name, value) in fields {
            body += Array(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        for (name, bytes) in files {
            let head =
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(bytes.isEmpty ? "" : "chosen")\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            body += Array(head.utf8) + bytes + Array("\r\n".utf8)
        }
        body += Array("--\(boundary)--\r\n".utf8)
        return try await LoopbackClient.ask(
            RawRequest(
                method: "POST", path: path,
                headers: [("Cookie", cookie), ("Content-Type", "multipart/form-data; boundary=\(boundary)")], body: body
            ),
            port: directory.adminPort > 0 ? directory.adminPort : directory.port)
    }

    /// Sends a form of a page as a person does: with all its fields, some of them changed.
    ///
    /// - Parameters:
    ///   - action: the form's action.
    ///   - changes: fields that the person writes or chooses.
    ///   - file: a field for a file and the bytes of the chosen file.
    ///   - path: the action of another button of the form.
    func submit(
        _ page: ReceivedResponse, _ action: String, _ changes: KeyValuePairs<String, String> = [:],
        file: (field: String, bytes: [UInt8])? = nil, to path: String? = nil
    ) async throws -> ReceivedResponse {
        let form = try #require(PageFields(page.text, action: action), "no form \(action): \(page.text)")
        var fields = form.values
        for (name, value) in changes {
            #expect(form.names.contains(name), "the form has no field \(name)")
            fields.removeAll { $0.0 == name }
            fields.append((name, value))
        }
        guard form.hasFile else {
            let pairs = fields.map { "\($0.0)=\(PagePath.encoded($0.1))" }
            return try await Self.send(
                "POST", path ?? action, on: directory, cookie: cookie, body: pairs.joined(separator: "&"))
        }
        return try await send(path ?? action, fields, files: file.map { [$0.field: $0.bytes] } ?? [:])
    }

    /// The version that a form of a page was shown with.
    func version(in page: String, of action: String) async throws -> String {
        try #require(PageFields(try await get(page).text, action: action)?["version"])
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

/// The fields of a form in a page, with the values that a browser would send.
struct PageFields {
    private(set) var values: [(String, String)] = []
    private(set) var names: Set<String> = []
    let hasFile: Bool

    /// Nil if the page has no form with this action.
    init?(_ html: String, action: String) {
        guard let head = html.range(of: "action=\"\(action)\""),
            let start = html[..<head.lowerBound].range(of: "<form", options: .backwards),
            let end = html.range(of: "</form>", range: head.upperBound..<html.endIndex)
        else { return nil }
        let form = String(html[start.lowerBound..<end.lowerBound])
        hasFile = form.contains("enctype=\"multipart/form-data\"")
        for match in form.matches(of: /<input[^>]*>/) {
            let tag = String(match.0)
            guard let name = Self.attribute("name", tag) else { continue }
            names.insert(name)
            let type = Self.attribute("type", tag) ?? "text"
            if type == "file" || (["radio", "checkbox"].contains(type) && !tag.contains(" checked")) { continue }
            values.append((name, Self.attribute("value", tag) ?? ""))
        }
        for match in form.matches(of: /<textarea[^>]*name="([^"]*)"[^>]*>\n?([^<]*)<\/textarea>/) {
            names.insert(String(match.1))
            values.append((String(match.1), Self.plain(String(match.2))))
        }
        for match in form.matches(of: /<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/) {
            names.insert(String(match.1))
            let options = match.2.matches(of: /<option value="([^"]*)"( selected)?>/)
            let chosen = options.first { $0.2 != nil } ?? options.first
            values.append((String(match.1), chosen.map { Self.plain(String($0.1)) } ?? ""))
        }
    }

    /// The value of a field; nil without one.
    subscript(_ name: String) -> String? { values.first { $0.0 == name }?.1 }

    private static func attribute(_ name: String, _ tag: String) -> String? {
        guard let start = tag.range(of: " \(name)=\""),
            let end = tag.range(of: "\"", range: start.upperBound..<tag.endIndex)
        else { return nil }
        return plain(String(tag[start.upperBound..<end.lowerBound]))
    }

    private static func plain(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(text) {
            $0.replacing($1.0, with: $1.1)
        }
    }
}
