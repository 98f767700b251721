// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("A reload of the doors", .serialized, .timeLimit(.minutes(8)))
struct DoorReloadTests {
    private let fixture: CallFixture
    private let first = ReservedPort.next()
    private let second = ReservedPort.next()

    init() async throws { fixture = try await CallFixture() }

    private func door(_ port: UInt16, _ more: String = "") -> ConfigurationText {
        fixture.text.with("doors", "{names: {listen: '127.0.0.1:\(port)'\(more)}}")
    }

    /// The status of a request for a name; nil for a port that nobody listens on.
    private func status(_ port: UInt16) async -> Int? {
        try? await LoopbackClient.get("/name/+61255501301", port: Int(port)).status
    }

    private func isReached(_ port: UInt16) async throws {
        try await fixture.until { await status(port) == 200 }
    }

    @Test func `a door moves to another port, closes and opens again`() async throws {
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await isReached(first)
            try fixture.folder.write(door(second))
            #expect(await reload.run() == .applied(waiting: []))
            try await isReached(second)
            try await fixture.until { await status(first) == nil }
            try fixture.folder.write(fixture.text)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second) == nil }
            try fixture.folder.write(door(first))
            #expect(await reload.run() == .applied(waiting: []))
            try await isReached(first)
        }
        let changes = fixture.log.all.filter { $0.contains("the doors have their new settings") }
        #expect(changes.count == 3 && changes[1].contains("names: off"), "\(changes)")
    }

    @Test func `its clients change on the same port`() async throws {
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await isReached(first)
            try fixture.folder.write(door(first, ", allow: [192.0.2.20]"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(first) == 403 }
        }
    }

    @Test func `a port in use is refused, and nothing of the file is in force`() async throws {
        let other = try FaultyPeer { _, _ in .status(200) }
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await isReached(first)
            try fixture.folder.write(door(other.port))
            guard case .refused(let problem) = await reload.run() else { return #expect(Bool(false), "applied") }
            #expect(problem.contains("cannot listen on TCP 127.0.0.1:\(other.port)"), "\(problem)")
            #expect(problem.hasSuffix("or change doors.names.listen"))
            #expect(await status(first) == 200)
        }
        other.close()
    }
}
