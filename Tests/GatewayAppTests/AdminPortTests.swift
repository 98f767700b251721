// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("A reload of the admin port", .serialized, .timeLimit(.minutes(8)))
struct AdminPortTests {
    private let fixture: CallFixture
    private let first = ReservedPort.next()
    private let second = ReservedPort.next()

    init() async throws { fixture = try await CallFixture() }

    private func admin(_ port: UInt16, _ more: String = "") -> ConfigurationText {
        fixture.text.with("admin", "{listen: '127.0.0.1:\(port)'\(more)}")
    }

    /// The status of a path; nil for a port that nobody listens on.
    private func status(_ path: String, _ port: UInt16) async -> Int? {
        try? await LoopbackClient.get(path, port: Int(port)).status
    }

    private func isReached(_ port: UInt16) async throws {
        try await fixture.until { await status("/healthz", port) == 200 }
    }

    @Test func `it moves to another port, goes off and comes back`() async throws {
        try await fixture.starts.run(try fixture.starts.start(admin(first))) { reload in
            try await isReached(first)
            try fixture.folder.write(admin(second))
            #expect(await reload.run() == .applied(waiting: []))
            try await isReached(second)
            try await fixture.until { await status("/healthz", first) == nil }
            try fixture.folder.write(fixture.text.with("admin", "{enabled: false}"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status("/healthz", second) == nil }
            try fixture.folder.write(admin(first))
            #expect(await reload.run() == .applied(waiting: []))
            try await isReached(first)
        }
        let moves = fixture.log.all.filter { $0.contains("the admin port has its new settings") }
        #expect(moves.count == 3 && moves[1].hasSuffix("[admin: off, tls: none]"), "\(moves)")
    }

    @Test func `its pages want a login once a token is set, on the same port`() async throws {
        try fixture.folder.put(Array("0123456789abcdef0123456789abcdef\n".utf8), in: "token")
        try await fixture.starts.run(try fixture.starts.start(admin(first))) { reload in
            try await isReached(first)
            #expect(await status("/", first) == 200)
            try fixture.folder.write(admin(first, ", token_file: token"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status("/", first).map { $0 != 200 } ?? false }
            #expect(await status("/healthz", first) == 200)
        }
    }

    @Test func `a port in use is refused, and nothing of the file is in force`() async throws {
        let other = try FaultyPeer { _, _ in .status(200) }
        try await fixture.starts.run(try fixture.starts.start(admin(first))) { reload in
            try await isReached(first)
            try fixture.folder.write(admin(other.port))
            guard case .refused(let problem) = await reload.run() else { return #expect(Bool(false), "applied") }
            #expect(problem.contains("cannot listen on TCP 127.0.0.1:\(other.port)"), "\(problem)")
            #expect(problem.hasSuffix("or change admin.listen"))
            #expect(await status("/healthz", first) == 200)
        }
        other.close()
    }

    @Test func `a certificate that cannot be used is refused`() async throws {
        try fixture.folder.put(Array("no pem".utf8), in: "c.pem")
        try fixture.folder.put(Array("no pem".utf8), in: "k.pem")
        try await fixture.starts.run(try fixture.starts.start(admin(first))) { reload in
            try await isReached(first)
            try fixture.folder.write(admin(first, ", tls: {certificate: c.pem, key: k.pem}"))
            guard case .refused(let problem) = await reload.run() else { return #expect(Bool(false), "applied") }
            #expect(problem.hasPrefix("admin.tls.certificate: "), "\(problem)")
            #expect(problem.contains("it is not a PEM certificate; name a readable file with a PEM certificate"))
            #expect(await status("/healthz", first) == 200)
        }
    }
}
