// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host

/// Writes traced messages as a pcap file that Wireshark, tshark and sngrep read.
///
/// The link type is LINKTYPE_RAW (101): packets begin with their IP header. Herald makes the IP and UDP headers, also for TCP
/// and TLS, so every message is one readable packet. Source: draft-ietf-opsawg-pcap; RFC 791, RFC 8200, RFC 768.
///
/// One thread at a time.
final class PcapWriter: Sendable {
    private static let snapLength: UInt32 = 262_144
    private static let rawIP: UInt32 = 101
    /// The largest payload of UDP over IPv4.
    private static let longest = 65_507

    private let descriptor: Int32
    private let path: String

    /// Creates a file with mode 0600, and writes its header.
    ///
    /// - Throws: `ControlFailure` if the file exists or cannot be made.
    init(path: String) throws(ControlFailure) {
        // O_EXCL: nobody else's file, and no symbolic link, is ever overwritten with a capture.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else {
            let code = errno
            if code == EEXIST { throw ControlFailure("\(path) exists; name another file, or delete it") }
            throw ControlFailure("\(path) cannot be written: \(SystemError.text(code))\(Self.remedy(for: code))")
        }
        try write(Self.header)
    }

    deinit { close(descriptor) }

    /// The remedy for an error of the system; empty for one without.
    static func remedy(for code: Int32) -> String {
        code == EACCES ? "; name a file in a folder that this user can write, such as /tmp/call.pcap" : ""
    }

    /// Appends a message.
    ///
    /// - Throws: `ControlFailure` if the file cannot be written, as on a full disk.
    func append(_ message: TracedMessage, wallMicroseconds: Int64) throws(ControlFailure) {
        try write(Self.record(message, wallMicroseconds: wallMicroseconds))
    }

    /// The file header: magic number of microsecond times, version 2.4, link type.
    static var header: [UInt8] {
        little(0xA1B2_C3D4 as UInt32) + little(2 as UInt16) + little(4 as UInt16) + little(0 as UInt32)
            + little(0 as UInt32) + little(snapLength) + little(rawIP)
    }

    /// A packet with its record header.
    static func record(_ message: TracedMessage, wallMicroseconds: Int64) -> [UInt8] {
        let packet = packet(message)
        return little(UInt32(truncatingIfNeeded: wallMicroseconds / 1_000_000))
            + little(UInt32(truncatingIfNeeded: wallMicroseconds % 1_000_000)) + little(UInt32(packet.count))
            + little(UInt32(packet.count)) + packet
    }

    private static func packet(_ message: TracedMessage) -> [UInt8] {
        let payload = Array(message.bytes.prefix(longest - 20))
        let length = UInt16(payload.count + 8)
        let (source, destination) = (message.source, message.destination)
        let ports = network(source.port) + network(destination.port)
        let pseudo = source.bytes + destination.bytes + network(UInt32(length)) + [0, 0, 0, 17]
        let sum = checksum(pseudo + ports + network(length) + [0, 0] + payload)
        // A sum of zero would mean that there is none (RFC 768).
        let datagram = ports + network(length) + network(sum == 0 ? 0xFFFF : sum) + payload
        if source.isIPv6 {
            return [0x60, 0, 0, 0] + network(length) + [17, 64] + source.bytes + destination.bytes + datagram
        }
        let total = network(UInt16(20 + datagram.count))
        var header: [UInt8] = [0x45, 0] + total + [0, 0, 0x40, 0, 64, 17, 0, 0] + source.bytes + destination.bytes
        let headerSum = network(checksum(header))
        header[10] = headerSum[0]
        header[11] = headerSum[1]
        return header + datagram
    }

    /// The Internet checksum (RFC 1071).
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for position in stride(from: 0, to: bytes.count, by: 2) {
            let low = position + 1 < bytes.count ? bytes[position + 1] : 0
            sum += UInt32(bytes[position]) << 8 | UInt32(low)
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(sum)
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private static func network(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private func write(_ bytes: [UInt8]) throws(ControlFailure) {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ControlFailure("\(path) cannot be written: \(SystemError.text(errno))") }
            start += count
        }
    }
}
