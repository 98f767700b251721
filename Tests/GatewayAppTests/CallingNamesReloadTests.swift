// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import Glibc
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
        let handle = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(handle) }
        var patience = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        (address.sin_port, address.sin_addr.s_addr) = (port.bigEndian, UInt32(0x7F00_0001).bigEndian)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        var query: [UInt8] = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in ["cnam", "example", "net"] {
            query.append(UInt8(label.utf8.count))
            query.append(contentsOf: label.utf8)
        }
        query.append(contentsOf: [0, 0, 6, 0, 1])
        var bytes = [UInt8](repeating: 0, count: 512)
        guard isConnected, send(handle, query, query.count, 0) == query.count else { return false }
        let count = recv(handle, &bytes, bytes.count, 0)
        return count > query.count && bytes[1] == 7 && bytes[3] & 0xF == 0
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
