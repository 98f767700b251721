// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization

@testable import WebPages

/// A clock that tests move by hand.
final class TestClock: Sendable {
    private let state = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { state.withLock { $0 } }
    func advance(by duration: Duration) { state.withLock { $0 += duration } }
}

/// Values that pages of a test have stored.
final class Saved: Sendable {
    private let state = Mutex<[String]>([])
    var value: [String] { state.withLock { $0 } }
    func add(_ text: String) { state.withLock { $0.append(text) } }
}

/// A site with one page, one form, one stream and one page that fails.
struct TestSite {
    struct Failure: Error, CustomStringConvertible {
        let description = "disk <full>"
    }

    struct Start: Sendable {
        let name: String
        let number: String
    }

    let saved = Saved()
    let clock = TestClock()
    /// The delays of responses.
    let pauses = Saved()
    let access: PageAccess

    static var loopback: TestSite { TestSite(access: .loopback) }

    static var login: TestSite {
        TestSite(access: .login(label: "token", isSecure: true) { secret, _ in secret == "open sesame" })
    }

    func test(_ body: @escaping @Sendable (Client) async throws -> Void) async throws {
        let router = Router()
        try site().add(to: router, address: { _ in "192.0.2.1" })
        try await Application(router: router).test(.router) { try await body(Client(client: $0)) }
    }

    /// The site without a server.
    func site() throws -> PageSite {
        let templates = try PageTemplates([
            "start": Array(
                "{{<layout}}{{$content}}<p id=\"name\">{{content.name}}</p><p>{{content.number}}</p>{{/content}}{{/layout}}"
                    .utf8)
        ])
        return PageSite(
            name: "herald <1>", version: "1", templates: templates, access: access, pages: pages, masksNumbers: true,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: { [clock] in clock.now },
            pause: { [pauses] in pauses.add("\($0)") })
    }

    private var pages: [Page] {
        [
            Page(.get, "/", entry: "Start") { page in
                .page(
                    template: "start", title: "Start",
                    content: Start(
                        name: page.query("name") ?? "", number: page.showsNumbers ? "+61491570001" : "+61******001"))
            },
            Page(.post, "/save") { [saved] page in
                saved.add(page.form["value"])
                return .redirect(to: "/", notice: PageNotice(.done, "Saved \(page.form["value"])"))
            },
            Page(.get, "/fails") { _ in throw Failure() },
            Page(.get, "/live") { _ in
                .live(
                    LiveParts(every: .milliseconds(1)) {
                        withUnsafeCurrentTask { $0?.cancel() }
                        return [.init(id: "name", template: "start", values: Start(name: "x", number: ""))]
                    })
            },
        ]
    }
}

/// A browser as far as the tests need one.
struct Client: Sendable {
    let client: any TestClientProtocol

    struct Received: Sendable {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        let text: String

        /// The form token in the page.
        var token: String { text.firstMatch(of: /data-token="([^"]*)"/).map { String($0.1) } ?? "" }
        /// `name=value` of the cookie that the response sets.
        var cookie: String? { headers[.setCookie]?.split(separator: ";").first.map(String.init) }
    }

    func get(_ uri: String, cookie: String? = nil, _ headers: [String: String] = [:]) async throws -> Received {
        try await send(uri, .get, cookie, headers, nil)
    }

    func head(_ uri: String) async throws -> Received { try await send(uri, .head, nil, [:], nil) }

    func post(_ uri: String, _ body: String, cookie: String?, _ headers: [String: String] = [:]) async throws
        -> Received
    {
        try await send(uri, .post, cookie, headers, ByteBuffer(string: body))
    }

    private func send(
        _ uri: String, _ method: HTTPRequest.Method, _ cookie: String?, _ more: [String: String], _ body: ByteBuffer?
    ) async throws -> Received {
        var headers = HTTPFields()
        if let cookie { headers[.cookie] = cookie }
        for (name, value) in more { if let name = HTTPField.Name(name) { headers[name] = value } }
        return try await client.execute(uri: uri, method: method, headers: headers, body: body) { response in
            Received(status: response.status, headers: response.headers, text: String(buffer: response.body))
        }
    }
}
