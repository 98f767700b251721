// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import GatewayOperator

@Suite("Capture files of traces, draft-ietf-opsawg-pcap")
struct PcapWriterTests {
    private let path = NSTemporaryDirectory() + "trace-\(UInt64.random(in: .min ... .max)).pcap"

    /// The sum of a header or datagram with its checksum, which is all ones if it is right (RFC 1071).
    private func sum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0
        for position in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[position]) << 8 + UInt32(position + 1 < bytes.count ? bytes[position + 1] : 0)
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return sum
    }

    private func written(_ message: TracedMessage) throws -> [UInt8] {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PcapWriter(path: path).append(message, wallMicroseconds: 1_800_000_000_123_456)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func `the file has a header of link type 101, and a record a message`() throws {
        let bytes = try written(TraceExamples.message(transport: .tls))
        #expect(bytes[0..<4].elementsEqual([0xD4, 0xC3, 0xB2, 0xA1]), "microseconds, little-endian")
        #expect(bytes[4..<8].elementsEqual([2, 0, 4, 0]), "version 2.4")
        #expect(bytes[20..<24].elementsEqual([101, 0, 0, 0]), "LINKTYPE_RAW")
        #expect(bytes[24..<28].elementsEqual([0x00, 0xD2, 0x49, 0x6B]), "seconds")
        #expect(bytes[28..<32].elementsEqual([0x40, 0xE2, 0x01, 0x00]), "microseconds")
        let length = TraceExamples.sip.utf8.count + 28
        #expect(bytes[32] == UInt8(length) && bytes[36] == UInt8(length))
        let packet = Array(bytes[40...])
        #expect(packet.count == length)
        #expect(packet[0] == 0x45 && packet[9] == 17)
        #expect(packet[12..<16].elementsEqual([203, 0, 113, 5]) && packet[16..<20].elementsEqual([192, 0, 2, 10]))
        #expect(packet[28...].elementsEqual(TraceExamples.sip.utf8))
        #expect(sum(Array(packet[..<20])) == 0xFFFF)
        let pseudo = Array(packet[12..<20]) + [0, 17] + packet[24..<26]
        #expect(sum(pseudo + packet[20...]) == 0xFFFF)
    }

    @Test func `IPv6 has a header of forty bytes and a checksum`() throws {
        let message = TraceExamples.message(from: TraceExamples.trunk6, to: TraceExamples.herald6)
        let packet = Array(try written(message)[40...])
        #expect(packet[0] == 0x60 && packet[6] == 17)
        #expect(Int(packet[4]) << 8 + Int(packet[5]) == packet.count - 40)
        let pseudo = Array(packet[8..<40]) + [0, 0] + packet[4..<6] + [0, 0, 0, 17]
        #expect(sum(pseudo + packet[40...]) == 0xFFFF)
    }

    @Test func `the file is for its user alone, and no file is overwritten`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try PcapWriter(path: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let failure = #expect(throws: ControlFailure.self) { try PcapWriter(path: path) }
        #expect(failure?.description == "\(path) exists; name another file, or delete it")
        #expect(throws: ControlFailure.self) { try PcapWriter(path: "/nowhere/trace.pcap") }
    }

    @Test func `a folder that is closed to the user has a remedy`() {
        // sysfs makes no files, not even for root.
        let failure = #expect(throws: ControlFailure.self) { try PcapWriter(path: "/sys/trace.pcap") }
        #expect(failure?.description.hasPrefix("/sys/trace.pcap cannot be written: ") == true)
        #expect(
            PcapWriter.remedy(for: EACCES)
                == "; name a file in a folder that this user can write, such as /tmp/call.pcap")
        #expect(PcapWriter.remedy(for: ENOENT).isEmpty)
    }
}
