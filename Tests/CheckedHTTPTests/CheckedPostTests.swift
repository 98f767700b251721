// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOHTTP1
import Synchronization
import TestFixtures
import Testing

@testable import CheckedHTTP

@Suite("Requests with a body to foreign hosts", .timeLimit(.minutes(15)))
struct CheckedPostTests {
    private static func post(
        mostBytes: Int = 1000, total: Duration = .seconds(30), allowsPrivate: Bool = true,
        resolve: @escaping HostResolver = { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] }
    ) -> CheckedPost {
        CheckedPost(
            mostBytes: mostBytes, connect: total, total: total, allowsPrivate: allowsPrivate, resolve: resolve)
    }

    private static func url(_ peer: FaultyPeer) throws -> FetchURL {
        try #require(FetchURL("http://push.example:\(peer.port)/p?x=1"))
    }

    @Test func `headers and body arrive, and any status is a response`() async throws {
        let peer = try FaultyPeer { _, _ in .status(429, headers: ["Retry-After": "7"], body: "slow down") }
        let post = Self.post()
        let response = try await post.response(to: Self.url(peer), ["X-Key": "k"], body: Array("hello".utf8))
        #expect(response.status == 429 && response.headers.first(name: "retry-after") == "7")
        #expect(response.body == Array("slow down".utf8))
        let request = try #require(peer.requests.first)
        #expect(request.method == "POST" && request.target == "/p?x=1" && request.body == "hello")
        #expect(request.headers["x-key"] == "k" && request.headers["host"] == "push.example:\(peer.port)")
        await post.shutdown()
    }

    @Test func `a redirect is a response, and nobody follows it`() async throws {
        let peer = try FaultyPeer { _, _ in .status(307, headers: ["Location": "/other"]) }
        let post = Self.post()
        #expect(try await post.response(to: Self.url(peer), [:], body: []).status == 307)
        #expect(peer.requests.count == 1)
        await post.shutdown()
    }

    @Test(
        arguments: [
            (.status(200, body: String(repeating: "a", count: 2000)), 1000...1000),
            (.endless("HTTP/1.1 200 OK\r\n\r\n"), 1000...1000),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin"), 0...5),
            (.stall("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin"), 0...0),
        ] as [(FaultyPeer.Response, ClosedRange<Int>)])
    func `a body that is too long, breaks off or never ends changes no status`(
        response: FaultyPeer.Response, count: ClosedRange<Int>
    ) async throws {
        let peer = try FaultyPeer { _, _ in response }
        var total = Duration.seconds(30)
        if case .stall = response { total = .seconds(2) }
        let post = Self.post(total: total)
        let response = try await post.response(to: Self.url(peer), [:], body: [1])
        #expect(response.status == 200 && count.contains(response.body.count))
        await post.shutdown()
    }

    @Test(arguments: [FaultyPeer.Response.silence, .stall("HTTP/1.1 200 OK\r\nX-Slow")])
    func `a host without a head has its time and no more`(response: FaultyPeer.Response) async throws {
        let peer = try FaultyPeer { _, _ in response }
        let post = Self.post(total: .seconds(1))
        await #expect(throws: FetchFailure.timeout(.seconds(1))) {
            _ = try await post.response(to: Self.url(peer), [:], body: [])
        }
        await post.shutdown()
    }

    @Test func `a look-up has its time and no more`() async throws {
        let peer = try FaultyPeer { _, _ in .status(201) }
        let post = Self.post(total: .milliseconds(200)) { _ in
            try? await Task.sleep(for: .seconds(3600))
            return []
        }
        await #expect(throws: FetchFailure.timeout(.milliseconds(200))) {
            _ = try await post.response(to: Self.url(peer), [:], body: [])
        }
        await post.shutdown()
    }

    @Test func `a slow look-up leaves less time for the response`() async throws {
        let peer = try FaultyPeer { _, _ in .silence }
        let post = Self.post(total: .seconds(10)) { _ in
            try? await Task.sleep(for: .seconds(9))
            return HostAddress("127.0.0.1").map { [$0] } ?? []
        }
        let begin = ContinuousClock.now
        await #expect(throws: FetchFailure.timeout(.seconds(10))) {
            _ = try await post.response(to: Self.url(peer), [:], body: [])
        }
        #expect(ContinuousClock.now - begin < .seconds(18))
        await post.shutdown()
    }

    @Test(arguments: [["10.0.0.1"], ["::1"], ["8.8.8.8", "127.0.0.1"], ["64:ff9b::a00:1"]])
    func `a name with a private address gets no connection`(addresses: [String]) async throws {
        let peer = try FaultyPeer { _, _ in .status(201) }
        let post = Self.post(allowsPrivate: false) { _ in addresses.compactMap { HostAddress($0) } }
        await #expect(throws: FetchFailure.forbiddenAddress(addresses.last ?? "")) {
            _ = try await post.response(to: Self.url(peer), [:], body: [])
        }
        #expect(peer.requests.isEmpty)
        await post.shutdown()
    }

    @Test func `a name is looked up once for many requests, and a name without address each time`() async throws {
        let lookups = Mutex(0)
        let peer = try FaultyPeer { _, _ in .status(201) }
        let post = Self.post { host in
            lookups.withLock { $0 += 1 }
            return host == "push.example" ? HostAddress("127.0.0.1").map { [$0] } ?? [] : []
        }
        for _ in 0..<5 { #expect(try await post.response(to: Self.url(peer), [:], body: []).status == 201) }
        #expect(lookups.withLock { $0 } == 1 && peer.requests.count == 5)
        let other = try #require(FetchURL("http://other.example/"))
        for _ in 0..<2 {
            await #expect(throws: FetchFailure.unresolvable("other.example")) {
                _ = try await post.response(to: other, [:], body: [])
            }
        }
        #expect(lookups.withLock { $0 } == 3)
        await post.shutdown()
        await #expect(throws: FetchFailure.network("stopped")) {
            _ = try await post.response(to: Self.url(peer), [:], body: [])
        }
    }
}

@Suite("Connections to checked addresses")
struct HostWaysTests {
    private static let now = ContinuousClock.now
    private let first = HostAddress("192.0.2.1")
    private let second = HostAddress("192.0.2.2")

    @Test func `another address has another client, and the former one ends with its last request`() async throws {
        let (first, second) = (try #require(first), try #require(second))
        var ways = HostWays()
        let clients = [HTTPClient(eventLoopGroupProvider: .singleton), HTTPClient(eventLoopGroupProvider: .singleton)]
        let unknown = ways.use("a", at: Self.now, lifetime: .seconds(60))
        let made = ways.use("a", at: first, now: Self.now, most: 9) { clients[0] }.http
        let kept = ways.use("a", at: Self.now + .seconds(59), lifetime: .seconds(60))
        let due = ways.use("a", at: Self.now + .seconds(60), lifetime: .seconds(60))
        let checked = ways.use("a", at: first, now: Self.now + .seconds(60), most: 9) { clients[1] }.http
        let moved = ways.use("a", at: second, now: Self.now + .seconds(120), most: 9) { clients[1] }.http
        #expect(unknown == nil && made === clients[0] && kept === clients[0])
        #expect(due == nil && checked === clients[0] && moved === clients[1], "checked again after its lifetime")
        let released = (0..<3).map { _ in ways.release(clients[0], of: "a") }
        #expect(released[0] == nil && released[1] == nil && released[2] === clients[0], "its last use ends it")
        let other = ways.release(clients[1], of: "a")
        let open = ways.close()
        let late = ways.use("a", at: first, now: Self.now, most: 9) { clients[0] }.http
        #expect(other == nil && open.count == 1 && late == nil)
        for client in clients { try await client.shutdown() }
    }

    @Test func `the longest unused host makes way, and none in use`() async throws {
        let address = try #require(first)
        var ways = HostWays()
        var clients: [String: HTTPClient] = [:]
        for (position, host) in ["a", "b", "c"].enumerated() {
            let client = HTTPClient(eventLoopGroupProvider: .singleton)
            clients[host] = client
            let now = Self.now + .seconds(position)
            let unused = ways.use(host, at: address, now: now, most: 2) { client }.unused
            #expect(unused.count == (host == "c" ? 1 : 0))
            if host == "c" { #expect(unused.first === clients["b"]) }
            // The first host stays in use.
            if host != "a" { _ = ways.release(client, of: host) }
        }
        let open = ways.close()
        #expect(open.count == 2)
        for client in clients.values { try await client.shutdown() }
    }
}
