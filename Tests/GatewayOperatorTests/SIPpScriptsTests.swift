// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Testing

@testable import GatewayOperator

@Suite("Scripts for SIPp")
struct SIPpScriptsTests {
    @Test(arguments: [
        (["203.0.113.0/24"], "203.0.113.5:5070", "203.0.113.5:5070", "a next hop within a network"),
        (["203.0.113.0/24"], "198.51.100.7:5060", "203.0.113.1:5060", "a network has no machine at its first address"),
        (["203.0.113.4/31"], "198.51.100.7:5060", "203.0.113.5:5060", "the smallest network"),
        (["203.0.113.9"], "198.51.100.7:5060", "203.0.113.9:5060", "an address"),
        (["203.0.113.9:5080"], "203.0.113.9:5060", "203.0.113.9:5080", "an address with a port"),
        (["2001:db8::/64"], "198.51.100.7:5060", "2001:db8::1:5060", "a network of IPv6"),
        (["203.0.113.9"], "sip.carrier.example", "203.0.113.9:5060", "a name as the next hop"),
    ])
    func `the carrier has an address that the gateway accepts`(
        sources: [String], hop: String, expected: String, why: String
    ) throws {
        let carrier = SIPpScripts.carrier(
            try sources.map { try SourceRange.read($0) },
            try EndpointAddress.read(hop, defaultPort: 5060, allowsNames: true))
        #expect("\(carrier.host):\(carrier.port)" == expected, "\(why)")
    }
}
