// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@testable import SIPTransport

@Suite("UDP sockets")
struct UDPSocketTests {
    static let loopback = PeerAddress(ipv4: 0x7f00_0001, port: 0)
    static let loopback6 = PeerAddress(ipv6High: 0, low: 1, port: 0)

    @Test(arguments: [loopback, loopback6])
    func `port 0 gives a port of the kernel's choice`(address: PeerAddress) throws {
        let socket = try UDPSocket(address: address)
        #expect(socket.address.port != 0)
        #expect(socket.address.hasSameHost(as: address))
    }

    @Test(arguments: [loopback, loopback6])
    func `an address in use is an error with the system's reason and the remedy`(address: PeerAddress) throws {
        let first = try UDPSocket(address: address)
        let error = #expect(throws: UDPSocketError.self) { try UDPSocket(address: first.address) }
        #expect(
            error?.description == """
                cannot listen on UDP \(first.address): Address already in use; \
                see who uses it with `ss -lunp`, or change listen.address
                """)
    }

    @Test func `an address of another machine is bound if it may be absent`() throws {
        let elsewhere = PeerAddress(ipv4: 0xcb00_7101, port: 0)
        #expect(try UDPSocket(address: elsewhere, mayBeAbsent: true).address.port != 0)
        #expect(try UDPSocket.shared(address: elsewhere, by: 2, mayBeAbsent: true).count == 2)
    }

    @Test func `an address of another machine is refused`() {
        // 203.0.113.0/24 is for documentation and no interface has it (RFC 5737 §3).
        let error = #expect(throws: UDPSocketError.self) {
            try UDPSocket(address: PeerAddress(ipv4: 0xcb00_7101, port: 0))
        }
        #expect(error?.description.contains("203.0.113.1:0: Cannot assign requested address") == true)
    }

    @Test(arguments: [16_384, 65_536, 131_072])
    func `a receive buffer is as large as was asked for`(bytes: Int) throws {
        #expect(try UDPSocket(address: Self.loopback, bufferBytes: Int32(bytes)).receiveBuffer == bytes)
    }

    @Test(arguments: [(0.5, 4 << 20, 0.5), (1, 16_384, 1), (0.5, 8 << 20, 1), (1, 8 << 20, 2)])
    func `a queue is full where 4 MB wait, or all of a smaller buffer`(part: Double, room: Int, filling: Double) {
        #expect(UDPSocket.filling(of: part, in: room) == filling)
    }

    @Test func `a released socket frees its address`() throws {
        var socket: UDPSocket? = try UDPSocket(address: Self.loopback)
        let address = try #require(socket?.address)
        socket = nil
        #expect(throws: Never.self) { try UDPSocket(address: address) }
        #expect(socket == nil)
    }
}
