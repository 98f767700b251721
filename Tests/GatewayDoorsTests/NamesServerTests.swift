// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayDoors
import NIOCore
import TestFixtures
import Testing

@Suite("The door for names: what clients have in common", .timeLimit(.minutes(8)))
struct NamesServerTests {
    /// A request target, and the body as text.
    typealias Row = (target: String, body: String)

    private static let brand = "Harbour Dental"
    private static let long = String(repeating: "a", count: 10_000)

    static let rows: [Row] = [
        // The five spellings of a number, and national digits of the trunk's region.
        ("/name/+61255501301", brand), ("/name/%2B61255501301", brand), ("/name/%2b61255501301", brand),
        ("/name/%2061255501301", brand), ("/name/61255501301", brand), ("/name/0255501301", brand),
        ("/name/+61255501302", "Fish & \"Chips\" 100 percent {x}"),
        // A miss echoes the present name, or has an empty body.
        ("/name/+61255501999", ""), ("/name/+61255501999?name=Reception", "Reception"),
        ("/name/+61255501999?name=AT&T%20#1%20(100%)", "AT&T #1 (100 percent )"),
        ("/name/+61255501999?name=%0d%0aSet-Cookie:%20a%00b", "Set-Cookie: ab"),
        ("/name/+61255501999?name=%1b%5b31mRed", "[31mRed"), ("/name/+61255501999?name=[NAME]", ""),
        ("/name/+61255501999?name=Zahnärzte", "Zahnärzte"), ("/name/+61255501999?name=a\tb\u{1}\u{7F}c", "a bc"),
        ("/name/+61255501999?name=\(long)", String(repeating: "a", count: 80)),
        ("/name/+61255501301?x=\(long)", brand), ("/name/\(long)?name=Reception", "Reception"),
        ("/name/[NUMBER]?name=[NAME]", ""), ("/name/?name=Reception", "Reception"), ("/name", ""),
        ("/name/anonymous?name=Anonymous", "Anonymous"), ("/name/Restricted", ""),
        ("/name/+61255501301?name=Private", "Private"),
        // JSON.
        (
            "/name/+61255501301?format=json",
            #"{"name":"Harbour Dental","matched":true,"number":"+61255501301","decision":"matched","brand_id":"brand-1301"}"#
        ),
        (
            "/name/0255501999?name=Jo%20%22J%22%20%5c&format=json",
            #"{"name":"Jo \u0022J\u0022 \u005c","matched":false,"number":"+61255501999","decision":"no_match"}"#
        ),
        ("/name/anonymous?format=json", #"{"matched":false,"decision":"privacy"}"#),
        ("/name/[Number]?format=json", #"{"matched":false,"decision":"number_unclear"}"#),
    ]

    @Test func `a name and a miss are 200, with nothing to cut off and nothing to keep`() async throws {
        let door = try NamesDoor()
        try await door.run { port in
            for row in Self.rows {
                // A blank and a raw quote are no part of a request line.
                let target = row.target.replacing(" ", with: "%20").replacing("#", with: "%23")
                let response = try await LoopbackClient.get(target, port: port)
                #expect(response.status == 200 && response.text == row.body, "\(row.target.prefix(99))")
                #expect(response.headers["cache-control"] == "no-store")
                #expect(response.headers["content-length"] == "\(row.body.utf8.count)")
                let type = row.target.hasSuffix("json") ? "application/json" : "text/plain; charset=utf-8"
                #expect(response.headers["content-type"] == type)
            }
        }
        #expect(door.count("matched") == 9 && door.count("no_match") == 10 && door.count("privacy") == 4)
        #expect(door.warnings.isEmpty, "\(door.warnings)")
    }

    @Test(arguments: [
        ("GET", "/", 404), ("GET", "/status", 404), ("GET", "/names/+61255501301", 404),
        ("GET", "/name/+61255501301?format=xml", 400), ("POST", "/name/+61255501301", 405),
        ("PUT", "/name/+61255501301", 405), ("DELETE", "/name/+61255501301", 405), ("OPTIONS", "*", 405),
        ("BREW", "/name/+61255501301", 400), ("GET", "/name/+61255501301 x", 400),
    ])
    func `an error has no body that could become a name`(method: String, path: String, status: Int) async throws {
        let door = try NamesDoor()
        try await door.run { port in
            let response = try await LoopbackClient.ask(RawRequest(method: method, path: path), port: port)
            #expect(response.status == status && response.body.isEmpty, "\(response.head)")
            #expect(response.headers["content-length"] == "0")
            if status == 405 { #expect(response.headers["allow"] == "GET, HEAD") }
        }
        #expect(door.count("invalid") == 1 && door.warnings.count == 1, "\(door.warnings)")
        // The number appears in no line.
        #expect(door.warnings.allSatisfy { $0.contains("client: 127.0.0.1") && !$0.contains("6125550") })
        #expect(door.warnings.allSatisfy { $0.contains("rejected (\(status)): ") })
    }

    @Test func `a client that is not listed gets 403 without a body, and one line in the log`() async throws {
        let door = try NamesDoor(allow: ["192.0.2.20", "2001:db8::/32"])
        try await door.run { port in
            for _ in 0..<3 {
                let response = try await LoopbackClient.get("/name/+61255501301?name=Reception", port: port)
                #expect(response.status == 403 && response.body.isEmpty)
                #expect(response.headers["connection"] == "close")
            }
        }
        #expect(door.count("not_allowed") == 3 && door.count("matched") == 0)
        #expect(
            door.warnings == [
                "warning a request for a name was rejected (403): doors.names.allow does not list this client; add its address "
                    + "[alike_before: 0, client: 127.0.0.1]"
            ])
    }

    @Test(arguments: [
        BrandingGates(brandingEnabled: false), BrandingGates(capReached: true), BrandingGates(authorised: false),
        BrandingGates(isStale: true),
    ])
    func `behind a closed gate each caller is a miss, at once`(gates: BrandingGates) async throws {
        let door = try NamesDoor(gates: gates)
        try await door.run { port in
            let response = try await LoopbackClient.get("/name/+61255501301?name=Reception", port: port)
            #expect(response.status == 200 && response.text == "Reception")
        }
        #expect(door.count(try #require(gates.closed).description) == 1)
    }

    @Test func `before the first sync each caller is a miss, and a sync is seen by the next request`() async throws {
        let door = try NamesDoor(isEmpty: true)
        let other = try NamesDoor()
        try await door.run { port in
            let first = try await LoopbackClient.get("/name/+61255501301", port: port)
            door.branding.store(other.branding.load())
            let second = try await LoopbackClient.get("/name/+61255501301", port: port)
            #expect(first.text.isEmpty && second.text == Self.brand)
        }
    }

    @Test func `HEAD has the head of GET alone`() async throws {
        try await NamesDoor().run { port in
            let response = try await LoopbackClient.ask(
                RawRequest(method: "HEAD", path: "/name/+61255501301"), port: port)
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(response.headers["content-length"] == "14")
        }
    }

    @Test func `a request with a body is read as one without`() async throws {
        try await NamesDoor().run { port in
            let request = RawRequest(
                path: "/name/+61255501301", headers: [("Content-Length", "5")], body: Array("hello".utf8))
            let response = try await LoopbackClient.ask(request, port: port)
            #expect(response.text == Self.brand)
        }
    }

    // MARK: Slow clients and floods

    @Test func `a client that never ends its request is let go`() async throws {
        try await NamesDoor(idle: .milliseconds(200)).run { port in
            await #expect(throws: (any Error).self) {
                try await LoopbackClient.ask(RawRequest(path: "/name/1", isUnfinished: true), port: port)
            }
        }
    }

    /// A reload cancels the old server after its patience, and so does the end of the gateway.
    @Test func `a request without its body does not hold a server that is cancelled`() async throws {
        let (ports, announced) = AsyncStream.makeStream(of: Int.self)
        let server = try NamesDoor(idle: .hours(1)).server { announced.yield($0) }
        let running = Task {
            defer { announced.finish() }
            try await server.run()
        }
        defer { running.cancel() }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next(), "the server ended before it listened")
        let held = try LoopbackSocket(port, isStream: true)
        held.send(Array("GET /name/+61255501301 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n".utf8))
        // The server has accepted it before this one.
        #expect(try await LoopbackClient.get("/name/+61255501301", port: port).status == 200)
        running.cancel()
        _ = await running.result
        withExtendedLifetime(held) {}
    }

    @Test func `a client above its connections is let go, and those it has go on`() async throws {
        var limits = DoorPlaces.Limits()
        (limits.client, limits.allowed) = (1, 2)
        let door = try NamesDoor(limits: limits)
        try await door.run { port in
            let idle = try IdleConnection(port: port)
            let deadline = ContinuousClock.now + .seconds(450)
            while door.count("crowded") == 0, ContinuousClock.now < deadline {
                _ = try? await LoopbackClient.get("/name/+61255501301", port: port)
            }
            #expect(door.count("crowded") > 0 && !idle.isClosed)
            withExtendedLifetime(idle) {}
        }
        #expect(door.warnings.contains { $0.contains("a connection for names was closed") })
    }

    @Test func `a client that reads no response is let go before its responses fill the memory`() async throws {
        try await NamesDoor().run { port in
            let client = try LoopbackSocket(port, isStream: true)
            let request = "GET /name/+61255501301 HTTP/1.1\r\nHost: a\r\n\r\n"
            let requests = Array(String(repeating: request, count: 1_000).utf8)
            let most = 32_000_000
            var sent = 0
            while sent < most, client.send(requests) { sent += requests.count }
            #expect(sent < most)
        }
    }

    @Test func `a header beyond its limit gets 400 without a body`() async throws {
        let door = try NamesDoor()
        try await door.run { port in
            let request = RawRequest(
                path: "/name/+61255501301", headers: [("X-Long", String(repeating: "x", count: 70_000))])
            // The system may drop the response with the bytes that nobody reads.
            if let response = try? await LoopbackClient.ask(request, port: port) {
                #expect(response.status == 400 && response.body.isEmpty)
            }
        }
        #expect(door.count("invalid") == 1 && door.count("matched") == 0)
        #expect(door.warnings.count == 1 && door.warnings[0].contains("rejected (400): it is no HTTP/1.1 request"))
    }

    @Test func `a client that is not listed gets no other count for bytes that are no HTTP`() async throws {
        let door = try NamesDoor(allow: ["192.0.2.20"])
        try await door.run { port in
            let response = try await LoopbackClient.ask(RawRequest(method: "BREW", path: "/name/1"), port: port)
            #expect(response.status == 400 && response.body.isEmpty)
        }
        #expect(door.count("not_allowed") == 1 && door.count("invalid") == 0)
    }
}
