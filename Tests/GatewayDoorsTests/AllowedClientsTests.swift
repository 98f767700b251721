// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayDoors
import NIOCore
import Testing

@Suite("Clients that a door serves")
struct AllowedClientsTests {
    @Test(arguments: [
        (["192.0.2.20"], "192.0.2.20", true), (["192.0.2.20"], "192.0.2.21", false),
        (["192.0.2.0/24"], "192.0.2.255", true), (["192.0.2.0/24"], "192.0.3.0", false),
        (["0.0.0.0/0"], "203.0.113.9", true), (["0.0.0.0/0"], "2001:db8::1", false),
        (["2001:db8::/32"], "2001:db8:1::1", true), (["2001:db8::/32"], "2001:db9::1", false),
        // An IPv4 client of an IPv6 socket.
        (["192.0.2.0/24"], "::ffff:192.0.2.7", true), (["::/0"], "::ffff:192.0.2.7", false),
        // The port of a client is one of the moment.
        (["192.0.2.20:5060"], "192.0.2.20", true), ([], "127.0.0.1", false),
    ])
    func `a range allows its addresses alone`(ranges: [String], address: String, isAllowed: Bool) throws {
        let clients = AllowedClients(try ranges.map { try SourceRange.read($0) })
        let socket = try SocketAddress(ipAddress: address, port: 40_000)
        #expect(clients.contain(AllowedClients.bytes(of: socket)) == isAllowed)
    }

    @Test func `a client without an address gets nothing`() throws {
        let clients = AllowedClients([try SourceRange.read("0.0.0.0/0"), try SourceRange.read("::/0")])
        #expect(!clients.contain(AllowedClients.bytes(of: nil)))
    }
}
