// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Testing

@testable import GatewayDoors

@Suite("A zone of calling names, RFC 6116 and draft-ietf-enum-cnam-08")
struct NumberZoneTests {
    /// +61255501301 has a name, +61255501302 none, +61255501303 a withheld one, and +61255501304 one in shadow.
    private func zone(_ lifetime: UInt32 = 0, name: String = "Acme & Söhne!") throws -> NumberZone {
        let name = try #require(CallingName(name))
        return NumberZone(try #require(ZoneName("cnam.example.net")), lifetime: lifetime) { number in
            switch number.description {
            case "+61255501301": FoundCallingName(.name(name))
            case "+61255501302": FoundCallingName(.unavailable(.unknown))
            case "+61255501303": FoundCallingName(.unavailable(.withheld))
            case "+61255501304": FoundCallingName(nil, isInShadow: true)
            default: FoundCallingName(nil)
            }
        }
    }

    private func response(_ query: [UInt8], _ lifetime: UInt32 = 0) throws -> DNSBytes {
        let reply = try #require(try zone(lifetime).reply(to: DNSMessage(query)))
        return try #require(DNSBytes(reply.bytes))
    }

    @Test func `a number has one NAPTR record with its name`() throws {
        let response = try response(DNSBytes.query(DNSBytes.name(of: "61255501301")), 30)
        #expect(response.id == 0x1234 && response.code == 0 && response.isAuthoritative && !response.isTruncated)
        // RD is repeated, and no recursion is offered.
        #expect(response.flags & 0x0180 == 0x0100)
        let record = try #require(response.records[0].first)
        #expect(response.records.map(\.count) == [1, 0, 0])
        #expect(record.owner == "1.0.3.1.0.5.5.5.2.1.6.cnam.example.net" && record.type == 35 && record.lifetime == 30)
        #expect(record.data.prefix(4) == [0, 10, 0, 100])
        #expect(DNSBytes.texts(record) == ["u", "E2U+pstndata:cnam", "!^.*$!pstndata:cnam/Acme%20%26%20Sohne%21!"])
    }

    @Test(arguments: [("61255501302", "u"), ("61255501303", "p")])
    func `a number without a name says why`(digits: String, reason: String) throws {
        let response = try response(DNSBytes.query(DNSBytes.name(of: digits)))
        let record = try #require(response.records[0].first)
        #expect(DNSBytes.texts(record).last == "!^.*$!pstndata:cnam/;unavailable=\(reason)!")
        #expect(record.lifetime == 0)
    }

    @Test func `a name in shadow is a missing one for the client alone`() throws {
        func reply(_ digits: String) throws -> NumberZone.Reply {
            try #require(try zone().reply(to: DNSMessage(DNSBytes.query(DNSBytes.name(of: digits)))))
        }
        let (shadow, missing) = (try reply("61255501304"), try reply("61255501309"))
        #expect(shadow.outcome == .shadow && missing.outcome == .empty)
        #expect(DNSBytes(shadow.bytes)?.records.map(\.count) == DNSBytes(missing.bytes)?.records.map(\.count))
    }

    @Test func `the case of letters does not count, and is repeated`() throws {
        let response = try response(DNSBytes.query("1.0.3.1.0.5.5.5.2.1.6.cNaM.eXAMPLE.Net"))
        #expect(response.records[0].first?.owner == "1.0.3.1.0.5.5.5.2.1.6.cNaM.eXAMPLE.Net")
    }

    /// A name of digits may have longer ones below it, so it exists: a resolver would otherwise ask for none of them.
    @Test(
        arguments: [
            ("9.0.3.1.0.5.5.5.2.1.6", 35, 0), ("6", 35, 0), ("1.6", 35, 0), ("1.0.3.1.0.5.5.5.2.1.6", 1, 0),
            ("1.0.3.1.0.5.5.5.2.1.6", 16, 0), ("0.0.0.0.0.0.0.0.0", 35, 0), ("1.2.3.4.5.6.7.8.9.0.1.2.3.4.5", 35, 0),
            ("1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6", 35, 3), ("x.1.6", 35, 3), ("12", 35, 3), ("*", 35, 3), ("1.x", 35, 3),
            ("\u{7F}", 35, 3), ("_sip._udp", 33, 3),
        ] as [(String, UInt16, UInt16)])
    func `another name, or another type, has no record but that of the zone`(name: String, type: UInt16, code: UInt16)
        throws
    {
        let response = try response(DNSBytes.query(name + ".cnam.example.net", type: type), 30)
        #expect(response.code == code && response.isAuthoritative)
        #expect(response.records.map(\.count) == [0, 1, 0])
        let record = try #require(response.records[1].first)
        #expect(record.owner == "cnam.example.net" && record.type == 6 && record.lifetime == 30)
        #expect(record.data.suffix(4) == [0, 0, 0, 30])
    }

    @Test func `the zone has its own records`() throws {
        #expect(try response(DNSBytes.query("cnam.example.net", type: 6)).records[0].map(\.type) == [6])
        #expect(try response(DNSBytes.query("cnam.example.net", type: 2)).records[0].map(\.data) == [[0xC0, 12]])
        #expect(try response(DNSBytes.query("cnam.example.net", type: 1)).records.map(\.count) == [0, 1, 0])
    }

    /// ANY and zone transfers, other zones, the root, other classes, and types that are no data.
    @Test(
        arguments: [
            ("1.0.3.1.0.5.5.5.2.1.6.cnam.example.net", 255, 1), ("cnam.example.net", 252, 1),
            ("cnam.example.net", 251, 1),
            ("cnam.example.net", 255, 1), ("example.net", 6, 1), ("1.2.3.example.net", 35, 1), (".", 2, 1),
            ("xcnam.example.net", 35, 1), ("cnam.example.net.org", 35, 1), ("version.bind", 16, 3),
            ("1.0.3.1.0.5.5.5.2.1.6.cnam.example.net", 35, 3), ("1.6.cnam.example.net", 35, 255),
            ("1.6.cnam.example.net", 41, 1), ("1.6.cnam.example.net", 0, 1), ("1.6.cnam.example.net", 250, 1),
        ] as [(String, UInt16, UInt16)])
    func `everything else is refused, in as many bytes as the query`(name: String, type: UInt16, recordClass: UInt16)
        throws
    {
        let query = DNSBytes.query(name, type: type, recordClass: recordClass)
        let reply = try #require(try zone().reply(to: DNSMessage(query)))
        let response = try #require(DNSBytes(reply.bytes))
        #expect(response.code == 5 && !response.isAuthoritative && response.records.map(\.count) == [0, 0, 0])
        #expect(reply.bytes.count == query.count && reply.outcome == .refused)
    }

    @Test func `a client with EDNS gets EDNS, and another version an error`() throws {
        let name = DNSBytes.name(of: "61255501301")
        let response = try response(DNSBytes.query(name, edns: 0))
        #expect(response.records.map(\.count) == [1, 0, 1] && response.records[2].first?.type == 41)
        let other = try self.response(DNSBytes.query(name, edns: 1))
        // BADVERS is 16: its upper bits are in the lifetime of OPT.
        #expect(other.code == 0 && other.records[0].isEmpty && other.records[2].first?.lifetime == 0x0100_0000)
    }

    @Test func `a fault gets its header back`() throws {
        let reply = try #require(try zone().reply(to: DNSMessage(DNSBytes.query("a.b", flags: 0x2900))))
        #expect(reply.bytes == [0x12, 0x34, 0xA9, 0x04, 0, 0, 0, 0, 0, 0, 0, 0] && reply.outcome == .malformed)
        #expect(try zone().reply(to: .ignored) == nil)
    }

    @Test func `above a limit the response is as long as the query`() throws {
        for edns in [nil, 0] as [UInt8?] {
            let query = DNSBytes.query(DNSBytes.name(of: "61255501301"), edns: edns)
            let reply = try #require(try zone().reply(to: DNSMessage(query), isLimited: true))
            let response = try #require(DNSBytes(reply.bytes))
            #expect(response.isTruncated && response.records[0].isEmpty && reply.bytes.count == query.count)
        }
    }

    @Test func `the longest response fits 512 bytes`() throws {
        let zone = try #require(
            ZoneName(Array(repeating: String(repeating: "z", count: 31), count: 4).joined(separator: ".")))
        let form = "pstndata:" + String(repeating: "x", count: CallingNameURI.longest - 15) + "{name}"
        #expect(CallingNameURI.isForm(form, with: CallingNameURI.nameMark))
        let name = try #require(CallingName(String(repeating: "!", count: 14) + "a"))
        let longest = NumberZone(zone, uri: CallingNameURI(name: form), lifetime: 60) { _ in
            FoundCallingName(.name(name))
        }
        let query = DNSBytes.query(DNSBytes.name(of: "123456789012345", in: zone.description), edns: 0)
        let reply = try #require(longest.reply(to: DNSMessage(query)))
        #expect(reply.outcome == .named && reply.bytes.count <= DNSResponse.longest && DNSBytes(reply.bytes) != nil)
        let missing = Array(repeating: String(repeating: "a", count: 38), count: 3).joined(separator: ".") + ".\(zone)"
        let empty = try #require(longest.reply(to: DNSMessage(DNSBytes.query(missing, edns: 0))))
        #expect(empty.bytes.count <= DNSResponse.longest && DNSBytes(empty.bytes)?.code == 3)
    }
}
