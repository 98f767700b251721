// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

@Suite("IP addresses as SIP writes them, RFC 3261 §25.1, RFC 5118, RFC 5952")
struct PeerAddressTests {
    private static func read(_ host: String, port: UInt16 = 5060) -> String? {
        PeerAddress(host: Array(host.utf8)[...], port: port)?.description
    }

    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0:5060"), ("192.0.2.1", "192.0.2.1:5060"), ("255.255.255.255", "255.255.255.255:5060"),
        ("10.100.9.99", "10.100.9.99:5060"),
    ])
    func `an IPv4 address is four decimal octets`(host: String, text: String) {
        #expect(Self.read(host) == text)
    }

    @Test(arguments: [
        // RFC 3261 §25.1: IPv6reference has brackets; the received parameter has none (RFC 5118 §4.5).
        ("[2001:db8::9:1]", "[2001:db8::9:1]:5060"), ("2001:db8::9:1", "[2001:db8::9:1]:5060"),
        // RFC 5952: one spelling goes out, whatever came in.
        ("[2001:DB8:0:0:0:0:0:1]", "[2001:db8::1]:5060"), ("[2001:0db8::0001]", "[2001:db8::1]:5060"),
        ("[::1]", "[::1]:5060"), ("[::]", "[::]:5060"), ("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]:5060"),
        // RFC 4291 §2.2: the last 32 bits as an IPv4 address (RFC 5118 §4.10).
        ("[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]:5060"), ("[2001:db8::192.0.2.1]", "[2001:db8::c000:201]:5060"),
    ])
    func `an IPv6 address has brackets or none`(host: String, text: String) {
        #expect(Self.read(host) == text)
    }

    @Test(arguments: [
        "", "a", "sip.example", "192.0.2", "192.0.2.1.", ".192.0.2.1", "192.0.2.1.1", "192.0..1", "192.0.2.256",
        "192.0.2.01", "192.0.2.1a", " 192.0.2.1", "192.0.2.1 ", "192.0.2.-1", "0x7f.0.0.1", "3221225985", "1.2.3.",
        "[192.0.2", "[]", "[", "]", "[::1", "::1]", "[[::1]]", ":", ":::", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]",
        "[2001:db8::1::2]", "[2001:db8::g]", "[12345::]", "[::1%eth0]", "[fe80::1%25eth0]", "[::1\0]", "2001:db8",
        // RFC 5118 §4.1: without brackets the port cannot be separated.
        "2001:db8::10:5070:5070:5070:5070:5070:1",
    ])
    func `everything else is a host name or nothing`(host: String) {
        #expect(Self.read(host) == nil)
    }

    @Test func `addresses of two families never equal, nor do two ports`() throws {
        let four = PeerAddress(ipv4: 0xc000_0201, port: 5060)
        let six = PeerAddress(ipv6High: 0, low: 0xc000_0201, port: 5060)
        #expect(four != six && !four.hasSameHost(as: six))
        #expect(four.with(port: 5061) != four && four.with(port: 5061).hasSameHost(as: four))
        #expect(six.with(port: 1).isIPv6 && six.with(port: 1).low == six.low)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `every address is read as it was written`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        for _ in 0..<500 {
            let port = UInt16(truncatingIfNeeded: random.next())
            let four = PeerAddress(ipv4: UInt32(truncatingIfNeeded: random.next()), port: port)
            // Zeros in the middle are what the short form is about.
            let mask = random.next() & random.next() & random.next()
            let six = PeerAddress(ipv6High: random.next() & mask, low: random.next() & mask, port: port)
            for address in [four, six] {
                #expect(PeerAddress(host: Array(address.hostText.utf8)[...], port: port) == address)
                #expect(PeerAddress(host: Array(address.bareHostText.utf8)[...], port: port) == address)
            }
        }
    }
}
