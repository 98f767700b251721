// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Via, RFC 3261 §20.42 and RFC 3581 §3")
struct ViaValueTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let via: String
        var host: String
        var port: UInt16?
        var branch: String?
        var received: String?
        var rport: String?

        var testDescription: String { via }
    }

    @Test(arguments: [
        Row(via: "SIP/2.0/UDP 192.0.2.1", host: "192.0.2.1"),
        Row(via: "SIP/2.0/UDP 192.0.2.1:5062;branch=z9hG4bKa", host: "192.0.2.1", port: 5062, branch: "z9hG4bKa"),
        Row(
            via: "SIP / 2.0 / UDP first.example.com : 4000;ttl=16 ;maddr=224.2.0.1 ;branch = z9hG4bKa7c6a8dlze.1",
            host: "first.example.com", port: 4000, branch: "z9hG4bKa7c6a8dlze.1"),
        Row(via: "SIP/2.0/UDP\r\n 192.0.2.1\r\n ;branch=a", host: "192.0.2.1", branch: "a"),
        Row(via: "SIP  /\t2.0/TLS [2001:db8::9:1]:5061;rport", host: "[2001:db8::9:1]", port: 5061, rport: ""),
        Row(
            via: "SIP/2.0/UDP [2001:db8::9:1];received=2001:db8::9:255", host: "[2001:db8::9:1]",
            received: "2001:db8::9:255"),
        Row(via: "SIP/2.0/UDP a;RPORT=5060;Received=192.0.2.1", host: "a", received: "192.0.2.1", rport: "5060"),
        Row(via: "SIP/2.0/UDP a;rport=;branch", host: "a", branch: "", rport: ""),
        Row(via: "SIP/2.0/UDP a;branch=1;branch=2", host: "a", branch: "1"),
        Row(via: "SIP/2.0/UDP a;x=\";branch=no\";branch=yes", host: "a", branch: "yes"),
        Row(via: "SIP/2.0/UDP a:65535", host: "a", port: 65535),
        Row(via: "SIP/2.0/UDP 0.0.0.0:0;branch=z9hG4bKx", host: "0.0.0.0", branch: "z9hG4bKx"),
    ])
    func `the parts of a value are found`(row: Row) throws {
        let message = try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", "Via: \(row.via)"])
        let via = try #require(message.topVia).value
        #expect(message.text(via.extent) == row.via)
        #expect(message.text(via.host) == row.host)
        #expect(via.port == row.port)
        #expect(via.branch.map(message.text) == row.branch)
        #expect(via.received.map(message.text) == row.received)
        #expect(via.rport.map(message.text) == row.rport)
    }

    @Test(arguments: [
        "", ",", "SIP", "SIP/2.0", "SIP/2.0/", "SIP/2.0/UDP", "SIP/2.0/UDP ", "SIP/2.0/UDP;branch=a", "/ /", "//",
        "///",
        "SIP/2.0/UDP a:65536", "SIP/2.0/UDP a:x", "SIP/2.0/UDP a:", "SIP/2.0/UDP :5060",
        "SIP/2.0/UDP [::1", "SIP/2.0/UDP [::1]x", "SIP/2.0/UDP a b", "SIP/2.0/UDP a 5060", ";branch=a",
        "SIP/2.0/UDP a:99999999999999999999",
    ])
    func `a malformed value is none`(via: String) throws {
        let message = try WireMessage.message(["OPTIONS sip:a@b SIP/2.0", "Via: \(via)"])
        #expect(message.topVia == nil)
    }

    @Test(arguments: [
        ["SIP/2.0/UDP a", "SIP/2.0/UDP b"], ["SIP/2.0/UDP a, SIP/2.0/UDP b"],
        ["SIP/2.0/UDP a,SIP/2.0/UDP b,SIP/2.0/UDP c"],
        ["SIP/2.0/UDP a,", ",SIP/2.0/UDP b"],
    ])
    func `the second value isPresent on the same line or the next`(lines: [String]) throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK"] + lines.map { "v: \($0)" })
        let top = try #require(message.topVia)
        #expect(message.text(top.value.host) == "a")
        #expect(top.field == message.headers[0])
        let second = try #require(ViaValue.second(of: message))
        #expect(message.text(second.host) == "b")
    }

    @Test(arguments: [
        (["SIP/2.0/UDP a", "SIP/2.0/UDP b"], true), (["SIP/2.0/UDP a, SIP/2.0/UDP b"], true),
        (["SIP/2.0/UDP a;branch=z9hG4bK1 ,\r\n SIP/2.0/UDP b"], true), (["SIP/2.0/UDP a"], false),
        (["SIP/2.0/UDP a;received=192.0.2.1;rport=5060"], false),
        // RFC 3261 §7.3.1: an empty element of a list is no value.
        (["SIP/2.0/UDP a,"], false), (["SIP/2.0/UDP a, ,"], false), (["SIP/2.0/UDP a,, SIP/2.0/UDP b"], true),
        (["SIP/2.0/UDP a;x=\"b,c\""], false), (["SIP/2.0/UDP a;x=\"b,c\", SIP/2.0/UDP d"], true),
    ])
    func `a response goes on by a second value`(_ lines: [String], _ goesOn: Bool) throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK"] + lines.map { "Via: \($0)" })
        #expect(message.hasSecondVia == goesOn)
    }

    @Test func `a single value has no second`() throws {
        let message = try WireMessage.message(["SIP/2.0 200 OK", "v: SIP/2.0/UDP a"])
        #expect(ViaValue.second(of: message) == nil)
        #expect(ViaValue.second(of: try WireMessage.message(["SIP/2.0 200 OK"])) == nil)
    }
}
