// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("Addresses of the machine")
struct LocalAddressesTests {
    /// TEST-NET-3 (RFC 5737) and the documentation prefix (RFC 3849): no machine has these.
    static let elsewhere = ["203.0.113.77", "2001:db8::77"]

    @Test(arguments: ["127.0.0.1", "0.0.0.0", "::", "sip.example.com"])
    func `the machine has its loopback address, and wildcards and names count as its own`(host: String) throws {
        #expect(try #require(LocalAddresses()).has(host))
    }

    @Test func `an address of a local route counts, though no interface lists it`() throws {
        #expect(try #require(LocalAddresses()).has("127.84.3.2"))
    }

    @Test(arguments: elsewhere)
    func `an address of another machine does not count`(host: String) throws {
        #expect(try #require(LocalAddresses()).has(host) == false)
    }

    @Test func `spellings of one IPv6 address are the same`() {
        #expect(LocalAddresses(["2001:db8::77"]).has("2001:0DB8:0:0::0077"))
        #expect(!LocalAddresses(["192.0.2.11"]).has("192.0.2.10"))
    }
}
