// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import GatewayDoors
import NIOCore
import TestFixtures
import Testing
import TrustFixtures

@Suite("The door for verifications: clients on sockets", .timeLimit(.minutes(8)))
struct VerificationServerTests {
    private static let path = VerificationDoor.path
    static let heartbeat = #"{"verificationRequest":{"time":1,"to":{"tn":["7777777777"]},"from":{"tn":"9999999999"}}}"#
    private static let nothing =
        #"{"verificationResponse":{"verstat":"No-TN-Validation","verstatValue":"No-TN-Validation"}}"#

    private static func request(_ path: String = path, _ body: String = heartbeat) -> RawRequest {
        RawRequest(method: "POST", path: path, headers: VerificationDoor.json, body: Array(body.utf8))
    }

    @Test(arguments: [
        ("", "/v1/verification", true), ("", "/stir/v1/verification", true), ("", "/v1/verification?x=1", true),
        ("/a/b", "/a/b/v1/verification", true), ("/a/b", "/stir/v1/verification", true),
        ("/a/b", "/v1/verification", false), ("/stir", "/stir/v1/verification", true), ("", "/v1/verification/", false),
        ("", "/v1/signing", false), ("", "//v1/verification", false), ("", "/V1/verification", false),
        ("", "/v1/%76erification", false),
    ])
    func `the base is free, and the path of 3GPP is always there`(base: String, path: String, isThere: Bool)
        async throws
    {
        let door = try VerificationDoor { $0.base = base }
        try await door.run { port in
            let response = try await LoopbackClient.ask(Self.request(path), port: port)
            #expect(response.status == (isThere ? 200 : 404))
            #expect(response.headers["cache-control"] == "no-store")
            if isThere { #expect(response.text == Self.nothing) } else { #expect(response.text.contains("SVC4003")) }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var method = "POST"
        var type: String? = "application/json"
        var body = VerificationServerTests.heartbeat
        var isChunked = false
        let status: Int
        let text: String

        var testDescription: String { "\(method) \(type ?? "-") \(body.count) \(isChunked) \(status)" }
    }

    static let rows = [
        Row(method: "GET", type: nil, body: "", status: 405, text: "POL4050"),
        Row(method: "PUT", status: 405, text: "POL4050"),
        Row(method: "PUT", isChunked: true, status: 405, text: "POL4050"),
        Row(type: "text/plain", status: 415, text: "SVC4004"), Row(type: nil, status: 415, text: "SVC4004"),
        Row(isChunked: true, status: 411, text: "SVC4007"), Row(body: "", status: 400, text: "SVC4000"),
        Row(type: "application/json; charset=utf-8", status: 200, text: "verstat"),
        Row(type: "Application/JSON", status: 200, text: "verstat"),
    ]

    @Test(arguments: rows)
    func `method, type and length have errors of their own`(_ row: Row) async throws {
        let door = try VerificationDoor()
        try await door.run { port in
            let request = RawRequest(
                method: row.method, path: Self.path, headers: row.type.map { [("Content-Type", $0)] } ?? [],
                body: Array(row.body.utf8), isChunked: row.isChunked)
            let response = try await LoopbackClient.ask(request, port: port)
            #expect(response.status == row.status && response.text.contains(row.text), "\(response.text)")
            #expect(response.headers["content-type"] == "application/json")
            if row.status == 405 { #expect(response.headers["allow"] == "POST") }
        }
        #expect(door.count("invalid") == (row.status == 200 ? 0 : 1))
    }

    @Test func `a body above the limit is refused before it comes, and one at the limit is read`() async throws {
        let door = try VerificationDoor()
        try await door.run { port in
            var large = Self.request()
            large.announced = VerificationDesk.mostBody + 1
            let refused = try await LoopbackClient.ask(large, port: port)
            #expect(refused.status == 413 && refused.headers["connection"] == "close")
            let filler = String(repeating: " ", count: VerificationDesk.mostBody - Self.heartbeat.utf8.count)
            let full = try await LoopbackClient.ask(Self.request(Self.path, Self.heartbeat + filler), port: port)
            #expect(full.status == 200 && full.text == Self.nothing)
        }
    }

    @Test(arguments: [
        ("67188cde-f7ea-434e-55dd-53b57af06333", true), ("AA97B177", true), (String(repeating: "x", count: 128), true),
        (String(repeating: "x", count: 129), false), ("a b", false), ("ä", false),
    ])
    func `an identifier of one word is reflected, also by an error`(identifier: String, isReflected: Bool) async throws
    {
        try await VerificationDoor().run { port in
            for path in [Self.path, "/other"] {
                var request = Self.request(path)
                request.headers.append(("X-RequestID", identifier))
                let response = try await LoopbackClient.ask(request, port: port)
                #expect(response.headers["x-requestid"] == (isReflected ? identifier : nil))
            }
            #expect(try await LoopbackClient.ask(Self.request(), port: port).headers["x-requestid"] == nil)
        }
    }

    @Test func `a client that is not listed gets 403 without a body, and one line in the log`() async throws {
        let door = try VerificationDoor(allow: ["192.0.2.20"])
        try await door.run { port in
            for _ in 0..<3 {
                let response = try await LoopbackClient.ask(Self.request(), port: port)
                #expect(response.status == 403 && response.body.isEmpty && response.headers["connection"] == "close")
            }
        }
        #expect(door.count("not_allowed") == 3 && door.warnings.count == 1)
        #expect(door.warnings[0].contains("doors.verification.allow does not list this client"))
    }

    @Test func `no number of a request reaches the log`() async throws {
        let door = try VerificationDoor()
        let body = #"{"verificationRequest":{"time":1,"to":{"tn":[7]},"from":{"tn":"12025551000"}}}"#
        try await door.run { port in
            let broken = try await LoopbackClient.ask(Self.request(Self.path, body), port: port)
            let hostile = try await LoopbackClient.ask(Self.request("/12025551000\u{1B}[31m"), port: port)
            #expect(broken.status == 400 && hostile.status == 400)
        }
        #expect(
            !door.warnings.isEmpty && door.warnings.allSatisfy { !$0.contains("2025551") && !$0.contains("\u{1B}") })
    }

    // MARK: Connections

    /// What a connection receives for three requests that are sent at once.
    private static func three(_ port: Int) throws -> String {
        let client = try LoopbackSocket(port, isStream: true)
        let requests = (1...3).map { number in
            "POST /v1/verification HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-RequestID: r\(number)\r\n"
                + "Content-Length: \(heartbeat.utf8.count)\r\n\r\n\(heartbeat)"
        }
        client.send(Array(requests.joined().utf8))
        return read(client) { $0.components(nothing) == 3 }
    }

    @Test func `requests of one connection get their responses in order`() async throws {
        let door = try VerificationDoor()
        try await door.run { port in
            let text = try Self.three(port)
            let places = ["r1", "r2", "r3"].compactMap { text.firstRange(of: "X-RequestID: \($0)\r\n")?.lowerBound }
            #expect(places.count == 3 && places == places.sorted(), "\(text)")
        }
        #expect(door.count("unsigned") == 3)
    }

    @Test func `a client that expects 100 gets it before it sends the body`() async throws {
        try await VerificationDoor().run { port in
            let client = try LoopbackSocket(port, isStream: true)
            client.send(
                Array(
                    """
                    POST /v1/verification HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r
                    Content-Length: \(Self.heartbeat.utf8.count)\r\n\r\n
                    """.utf8))
            #expect(Self.read(client) { $0.hasSuffix("\r\n\r\n") }.hasPrefix("HTTP/1.1 100 Continue\r\n"))
            client.send(Array(Self.heartbeat.utf8))
            #expect(Self.read(client) { $0.hasSuffix(Self.nothing) }.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    /// Reads until the text is complete, or nothing comes any more.
    private static func read(_ client: LoopbackSocket, until isComplete: (String) -> Bool) -> String {
        var text = ""
        while !isComplete(text), let bytes = client.receive(atMost: 65_536), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    @Test func `a client that never ends its body is let go`() async throws {
        try await VerificationDoor(idle: .milliseconds(200)).run { port in
            let client = try LoopbackSocket(port, isStream: true, patience: 450_000)
            client.send(Array("POST /v1/verification HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n{".utf8))
            #expect(client.receive(atMost: 10) == [], "closed without a response")
        }
    }

    @Test func `a client above its connections is let go, and those it has go on`() async throws {
        var limits = DoorPlaces.Limits()
        (limits.client, limits.allowed) = (1, 2)
        let door = try VerificationDoor(limits: limits)
        try await door.run { port in
            let idle = try IdleConnection(port: port)
            let deadline = ContinuousClock.now + .seconds(450)
            while door.count("crowded") == 0, ContinuousClock.now < deadline {
                _ = try? await LoopbackClient.ask(Self.request(), port: port)
            }
            #expect(door.count("crowded") > 0 && !idle.isClosed)
            withExtendedLifetime(idle) {}
        }
        #expect(door.warnings.contains { $0.contains("a connection for verifications was closed") })
    }

    @Test func `a change of signers is seen by the next request`() async throws {
        let door = try VerificationDoor(known: [])
        let identity = quoted(try TrustLab.shared.signed(TrustLab.claims()))
        let body = #"""
            {"verificationRequest":{"time":1471375428,"to":{"tn":["12025551001"]},"from":{"tn":"12025551000"},"identity":\#(identity)}}
            """#
        try await door.run { port in
            let first = try await LoopbackClient.ask(Self.request(Self.path, body), port: port)
            #expect(first.text.contains("No-TN-Validation") && first.text.contains("signer_not_yet_known"))
            door.signers.store(try TrustLab.shared.snapshot())
            let second = try await LoopbackClient.ask(Self.request(Self.path, body), port: port)
            #expect(second.text == #"{"verificationResponse":{"verstat":"TN-Validation-Passed"}}"#)
        }
        #expect(door.count("signer_not_yet_known") == 1 && door.count("passed") == 1)
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
