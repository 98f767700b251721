// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("A reload of the door for calling names", .serialized, .timeLimit(.minutes(8)))
struct CallingNamesReloadTests {
    private let fixture: CallFixture
    private let first = ReservedPort.next()
    private let second = ReservedPort.next()

    init() async throws { fixture = try await CallFixture() }

    private func door(_ port: UInt16, _ more: String = "") -> ConfigurationText {
        fixture.text.with("doors", "{enum: {zone: cnam.example.net, listen: '127.0.0.1:\(port)'\(more)}}")
    }

    /// Whether the zone has its record there, within 0.2 s.
    private func responds(_ port: UInt16) async -> Bool {
        var query: [UInt8] = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in ["cnam", "example", "net"] {
            query.append(UInt8(label.utf8.count))
            query.append(contentsOf: label.utf8)
        }
        query.append(contentsOf: [0, 0, 6, 0, 1])
        guard let client = try? LoopbackSocket(Int(port), isStream: false, patience: 200), client.send(query),
            let bytes = client.receive(atMost: 512)
        else { return false }
        return bytes.count > query.count && bytes[1] == 7 && bytes[3] & 0xF == 0
    }

    @Test func `the door moves, changes its clients, and closes`() async throws {
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await fixture.until { await responds(first) }
            try fixture.folder.write(door(second))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await responds(second) }
            #expect(await responds(first) == false)
            try fixture.folder.write(door(second, ", allow: [192.0.2.20]"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await responds(second) == false }
            try fixture.folder.write(door(second))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await responds(second) }
            try fixture.folder.write(fixture.text)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await responds(second) == false }
        }
        #expect(
            fixture.log.all.contains { $0.contains("the doors have their new settings") && $0.contains("enum: off") })
    }

    @Test func `a port in use is refused, and nothing of the file is in force`() async throws {
        let other = try FaultyPeer { _, _ in .status(200) }
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await fixture.until { await responds(first) }
            try fixture.folder.write(door(other.port))
            guard case .refused(let problem) = await reload.run() else { return #expect(Bool(false), "applied") }
            #expect(problem.contains("cannot listen on TCP 127.0.0.1:\(other.port)"), "\(problem)")
            #expect(problem.hasSuffix("or change doors.enum.listen"))
            #expect(await responds(first))
        }
        other.close()
    }
}
