// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

/// Where a response goes must not depend on whether the proxy still remembers the request.
@Suite("The source in the Via, RFC 3261 §18.2, RFC 3581 §4")
struct SourceAddressTests {
    private static let parameters = [
        "rport", "rport=", "rport=5060", "rport = 9", "received", "received=203.0.113.9", "received=[2001:db8::9]",
        "branch=z9hG4bK1", "x=\"a;received=203.0.113.9;rport=1\"", "ttl=16", "maddr=224.2.0.1", "RPORT", "y",
    ]
    private static let hosts = [
        "198.51.100.7", "198.51.100.7:5062", "10.0.0.1", "10.0.0.1:40000", "pbx.example:5070", "pbx.example",
        "[2001:db8::7]", "[2001:db8::7]:5070", "198.51.100.7 : 5062",
    ]
    private static let sources = [
        PeerAddress(ipv4: 0xc633_6407, port: 40_000), PeerAddress(ipv4: 0xc633_6407, port: 5060),
        PeerAddress(ipv6High: 0x2001_0db8_0000_0000, low: 7, port: 40_000),
    ]

    /// A Via with parameters in any order, each at most once.
    private static func via(_ random: inout RepeatableRandom) -> String {
        var names: Set<String> = []
        var via = "SIP/2.0/UDP " + hosts[Int(random.next() % UInt64(hosts.count))]
        for _ in 0..<(random.next() % 5) {
            let parameter = parameters[Int(random.next() % UInt64(parameters.count))]
            let name = parameter.lowercased().prefix { $0.isLetter }
            if names.insert(String(name)).inserted { via += [";", " ; ", ";"][Int(random.next() % 3)] + parameter }
        }
        return via
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `a response without state goes where one with state goes`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let written = Self.via(&random)
        let source = Self.sources[Int(random.next() % UInt64(Self.sources.count))]
        let message = try WireMessage.message(
            WireMessage.invite([("Via", "Via: \(written), SIP/2.0/UDP below.example;rport")]))
        let via = try #require(message.topVia).value
        var splices = Splices()
        RequestForwarding.markSource(source, in: message, via: via, into: &splices)
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        let noted = try #require(forwarded.topVia).value
        let remembered = ResponseForwarding.destination(ofResponsesTo: via, from: source)
        let read = ResponseForwarding.destination(of: noted, in: forwarded)
        #expect(read == remembered, "\(written) became \(forwarded.text(noted.extent))")
        // §18.2.1: the sender's own words never name another host than the source.
        if let received = noted.received {
            #expect(PeerAddress(host: forwarded[received], port: 1)?.hasSameHost(as: source) == true)
        } else {
            #expect(PeerAddress(host: forwarded[noted.host], port: 1)?.hasSameHost(as: source) == true)
        }
        if via.rport != nil { #expect(noted.rport.map(forwarded.text) == "\(source.port)") }
        // §16.6 step 1: the Via below and all else stay as they came.
        #expect(
            forwarded.text(noted.extent.upperBound..<forwarded.bytes.count)
                == message.text(via.extent.upperBound..<message.bytes.count))
        // §8.2.6: a response of the proxy itself carries the same Via.
        let response = try SIPMessage.index(
            LocalMessages.response(to: message, status: 100, phrase: "Trying", toTag: nil, source: source))
        let returned = try #require(response.topVia).value
        #expect(response.text(returned.extent) == forwarded.text(noted.extent))
    }

    @Test(arguments: [SIPTransportKind.tcp, .tls])
    func `on a stream the port is that of sent-by, whatever rport says, §18.2.2`(kind: SIPTransportKind) throws {
        let name = kind == .tls ? "TLS" : "TCP"
        for (host, port) in [("10.0.0.1:5099", 5099), ("10.0.0.1", kind.defaultPort)] as [(String, UInt16)] {
            let message = try WireMessage.message(
                WireMessage.invite([("Via", "Via: SIP/2.0/\(name) \(host);rport;branch=z9hG4bK1")]))
            let via = try #require(message.topVia).value
            var splices = Splices()
            RequestForwarding.markSource(Self.sources[0], in: message, via: via, into: &splices)
            let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
            let expected = Self.sources[0].with(port: port)
            let noted = try #require(forwarded.topVia).value
            #expect(ResponseForwarding.destination(of: noted, in: forwarded) == expected)
            #expect(
                ResponseForwarding.destination(ofResponsesTo: via, from: Self.sources[0], by: kind) == expected)
        }
    }
}
