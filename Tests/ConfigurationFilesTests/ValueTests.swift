// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConfigurationFiles

@Suite("Durations and addresses")
struct ValueTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("30s", .seconds(30)), ("5m", .seconds(300)), ("24h", .seconds(86_400)),
        ("90d", .seconds(7_776_000)), ("0s", .zero), ("30", nil), ("s", nil), ("-5s", nil), ("+5s", nil), ("1.5s", nil),
        ("5 s", nil), ("5S", nil), ("99999999999999s", nil), ("٣s", nil),
    ])
    func `durations have a whole number and a unit`(text: String, expected: Duration?) {
        #expect(DurationText.read(text) == expected)
    }

    @Test(arguments: ["500ms", "30s", "5m", "23h", "90d", "1500ms", "90s"])
    func `durations survive formatting and parsing`(text: String) throws {
        #expect(DurationText.write(try #require(DurationText.read(text))) == text)
    }

    @Test(arguments: [
        ("203.0.113.0/24", "203.0.113.77", true), ("203.0.113.0/24", "203.0.114.1", false),
        ("203.0.113.0/24", "203.0.113.77:5060", true), ("203.0.113.5:5060", "203.0.113.5:5060", true),
        ("203.0.113.5:5060", "203.0.113.5:5061", false), ("203.0.113.5:5060", "203.0.113.5", false),
        ("203.0.113.128/25", "203.0.113.0/24", false), ("0.0.0.0/0", "198.51.100.1", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("[2001:db8::]/33", "2001:db8:7fff::1", true),
        ("[2001:db8::]/33", "2001:db8:8000::1", false), ("2001:db8::1", "[2001:DB8:0::1]:5060", true),
    ])
    func `a range covers the ranges within it`(range: String, other: String, expected: Bool) throws {
        #expect(try SourceRange.read(range).covers(SourceRange.read(other)) == expected)
    }

    @Test(arguments: [
        "", ":5060", "192.0.2.1:", "[192.0.2.1]:5060", "[2001:db8::1", "[2001:db8::1]x", "[::1]5060", "192.0.2",
        "fe80::1%eth0", "192.0.2.1:5060:1", "192.0.2.1:65536", "192.0.2.1:+5", "1.2.3.4.5",
    ])
    func `text that is not an address is rejected`(text: String) {
        #expect(throws: AddressProblem.self) { try EndpointAddress.read(text, defaultPort: 5060) }
        #expect(throws: AddressProblem.self) { try SourceRange.read(text) }
    }

    /// RFC 5952 §6 lists notations for a port after an IPv6 address.
    ///
    /// Only brackets are unambiguous.
    @Test(arguments: [
        ("2001:db8::10:5060", 5060, "[2001:db8::10]:5060"), ("fe80::1:1024", 1024, "[fe80::1]:1024"),
        ("::1:50600", 50600, "[::1]:50600"),
    ])
    func `an ambiguous IPv6 address with a possible port is rejected`(text: String, port: UInt16, remedy: String) {
        let error = #expect(throws: AddressProblem.self) { try EndpointAddress.read(text, defaultPort: 5060) }
        #expect(error == .unbracketed(text, port: port))
        #expect(error?.description.contains("write \(remedy) with a port, or [\(text)] without one") == true)
    }

    @Test(arguments: [
        ("2001:db8::5060", "[2001:db8::5060]:5060"), ("2001:db8:1:2:3:4:5:5060", "[2001:db8:1:2:3:4:5:5060]:5060"),
        ("2001:db8::1:506", "[2001:db8::1:506]:5060"), ("2001:db8::1:beef", "[2001:db8::1:beef]:5060"),
        ("[2001:db8::10:5060]", "[2001:db8::10:5060]:5060"), ("2001:db8::1:99999", nil),
    ])
    func `an unambiguous IPv6 address without brackets is accepted`(text: String, expected: String?) {
        #expect((try? EndpointAddress.read(text, defaultPort: 5060))?.description == expected)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1:5060"), ("192.0.2.1:1", "192.0.2.1:1"), ("[2001:db8::1]:65535", "[2001:db8::1]:65535"),
        ("[2001:db8::1]", "[2001:db8::1]:5060"), ("2001:db8::1", "[2001:db8::1]:5060"),
    ])
    func `addresses are parsed with and without a port`(text: String, expected: String) throws {
        #expect(try EndpointAddress.read(text, defaultPort: 5060).description == expected)
    }

    @Test func `a port can be required, and host names and port 0 allowed`() throws {
        #expect(throws: AddressProblem.missingPort) { try EndpointAddress.read("192.0.2.1", defaultPort: nil) }
        #expect(throws: AddressProblem.name("pbx.example.com")) {
            try EndpointAddress.read("pbx.example.com", defaultPort: 5060)
        }
        #expect(try EndpointAddress.read("pbx.example.com", defaultPort: 5060, allowsNames: true).port == 5060)
        #expect(try EndpointAddress.read("192.0.2.1:0", defaultPort: nil, allowsPortZero: true).port == 0)
        #expect(try EndpointAddress.read("127.4.5.6:1", defaultPort: nil).isLoopback)
        #expect(try EndpointAddress.read("[0::1]:1", defaultPort: nil).isLoopback)
        #expect(try !EndpointAddress.read("192.0.2.1:1", defaultPort: nil).isLoopback)
    }
}
