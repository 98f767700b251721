// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import GatewayOperator

extension HEPPacket {
    /// The packet of an example.
    func bytes(of message: TracedMessage, callID: String, wallMicroseconds: Int64) -> [UInt8] {
        func address(_ end: TraceEndpoint) -> Address {
            func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
            return Address(
                high: end.isIPv6 ? number(end.bytes.prefix(8)) : 0, low: number(end.bytes.suffix(8)), port: end.port,
                isIPv6: end.isIPv6)
        }
        var packet: [UInt8] = [1, 2, 3]
        let head = Head(
            source: address(message.source), destination: address(message.destination),
            transport: message.transport, wallMicroseconds: wallMicroseconds)
        append(head, to: &packet) {
            $0 += callID.utf8
        } payload: {
            $0 += message.bytes
        }
        return Array(packet.dropFirst(3))
    }
}

@Suite("HEP packets, by the chunk table of the HEP3 specification")
struct HEPPacketTests {
    /// The types of vendor 0 and the lengths of their values; 0 for any length.
    private static let table: [UInt16: Int] = [
        0x01: 1, 0x02: 1, 0x03: 4, 0x04: 4, 0x05: 16, 0x06: 16, 0x07: 2, 0x08: 2, 0x09: 4, 0x0A: 4, 0x0B: 1, 0x0C: 4,
        0x0D: 2, 0x0E: 0, 0x0F: 0, 0x10: 0, 0x11: 0, 0x12: 2,
    ]

    /// Decodes a packet without the code of the writer.
    private static func chunks(_ packet: [UInt8]) throws -> [UInt16: [UInt8]] {
        func number(_ position: Int) -> UInt16 { UInt16(packet[position]) << 8 | UInt16(packet[position + 1]) }
        #expect(packet.prefix(4).elementsEqual("HEP3".utf8))
        #expect(Int(number(4)) == packet.count)
        var chunks: [UInt16: [UInt8]] = [:]
        var position = 6
        while position < packet.count {
            #expect(number(position) == 0, "vendor")
            let (type, length) = (number(position + 2), Int(number(position + 4)))
            let value = Array(packet[(position + 6)..<(position + length)])
            let expected = try #require(table[type], "type \(type) is in the table")
            #expect(expected == 0 || value.count == expected, "type \(type)")
            #expect(chunks.updateValue(value, forKey: type) == nil, "type \(type) occurs once")
            position += length
        }
        return chunks
    }

    @Test func `every chunk has its type, length and value`() throws {
        let packet = HEPPacket(captureID: 2001, authKey: "s3cret")
            .bytes(of: TraceExamples.message(), callID: "a@b", wallMicroseconds: 1_800_000_000_123_456)
        let chunks = try Self.chunks(packet)
        #expect(chunks[0x01] == [2], "AF_INET")
        #expect(chunks[0x02] == [17], "UDP")
        #expect(chunks[0x03] == [203, 0, 113, 5])
        #expect(chunks[0x04] == [192, 0, 2, 10])
        #expect(chunks[0x05] == nil && chunks[0x06] == nil)
        #expect(chunks[0x07] == [0x13, 0xC4], "5060")
        #expect(chunks[0x08] == [0x13, 0xC5], "5061")
        #expect(chunks[0x09] == [0x6B, 0x49, 0xD2, 0x00], "1,800,000,000 seconds")
        #expect(chunks[0x0A] == [0, 1, 0xE2, 0x40], "123,456 microseconds")
        #expect(chunks[0x0B] == [1], "SIP")
        #expect(chunks[0x0C] == [0, 0, 0x07, 0xD1])
        #expect(chunks[0x0E] == Array("s3cret".utf8))
        #expect(chunks[0x0F] == Array(TraceExamples.sip.utf8))
        #expect(chunks[0x11] == Array("a@b".utf8))
    }

    @Test func `IPv6 has its own chunks, and no key means no chunk`() throws {
        let message = TraceExamples.message(from: TraceExamples.trunk6, to: TraceExamples.herald6)
        let chunks = try Self.chunks(HEPPacket(captureID: 1).bytes(of: message, callID: "", wallMicroseconds: 0))
        #expect(chunks[0x01] == [10], "AF_INET6")
        #expect(chunks[0x05] == TraceExamples.trunk6.bytes && chunks[0x06] == TraceExamples.herald6.bytes)
        #expect(chunks[0x03] == nil && chunks[0x04] == nil && chunks[0x0E] == nil)
    }

    @Test(arguments: [(TracedMessage.Transport.tcp, 6 as UInt8), (.tls, 6), (.udp, 17)])
    func `TLS counts as TCP`(transport: TracedMessage.Transport, number: UInt8) throws {
        let packet = HEPPacket(captureID: 1)
            .bytes(of: TraceExamples.message(transport: transport), callID: "c", wallMicroseconds: 0)
        #expect(try Self.chunks(packet)[0x02] == [number])
    }

    @Test func `an IPv4 end beside an IPv6 end is a mapped address`() throws {
        let message = TraceExamples.message(from: TraceExamples.trunk, to: TraceExamples.herald6)
        let chunks = try Self.chunks(HEPPacket(captureID: 1).bytes(of: message, callID: "", wallMicroseconds: 0))
        #expect(chunks[0x05] == [UInt8](repeating: 0, count: 10) + [255, 255] + TraceExamples.trunk.bytes)
        #expect(chunks[0x06] == TraceExamples.herald6.bytes && chunks[0x03] == nil)
    }

    @Test func `a packet is never longer than a datagram`() throws {
        let message = TraceExamples.message(text: String(repeating: "x", count: 70_000))
        let packet = HEPPacket(captureID: 1, authKey: String(repeating: "k", count: 1024))
            .bytes(of: message, callID: String(repeating: "c", count: 5_000), wallMicroseconds: 0)
        #expect(packet.count == 65_507)
        _ = try Self.chunks(packet)
    }
}
