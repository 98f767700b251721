// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayDoors
import NIOCore
import SIPCore
import Testing

@Suite("The place of the name for each client")
struct NamePlacesTests {
    @Test(arguments: [
        ("192.0.2.21", "Contact"), ("192.0.2.22", "X-Caller-Name"), ("192.0.3.1", "P-Asserted-Identity"),
        ("::ffff:192.0.2.21", "Contact"), ("2001:db8::7", "Contact"), ("2001:db9::7", "P-Asserted-Identity"),
    ])
    func `the narrowest range counts`(address: String, place: String) throws {
        let clients: [(String, Redirection.NamePlace)] = [
            ("192.0.2.0/24", .header("X-Caller-Name")), ("192.0.2.21", .contact), ("0.0.0.0/0", .assertedIdentity),
            ("2001:db8::/32", .contact),
        ]
        var ranges: [SourceRange: Redirection.NamePlace] = [:]
        for (text, place) in clients { ranges[try SourceRange.read(text)] = place }
        let bytes = AllowedClients.bytes(of: try SocketAddress(ipAddress: address, port: 5060))
        #expect(NamePlaces(.assertedIdentity, clients: ranges).place(for: bytes).word == place)
    }
}
