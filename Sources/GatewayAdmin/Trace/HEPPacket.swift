// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes a traced message as a packet of the Homer Encapsulation Protocol, version 3.
///
/// A packet is `HEP3`, its length in two bytes, and chunks. A chunk is a vendor (0), a type and a length in two bytes each, and
/// a value; the length includes these six bytes. Numbers are in network order. Source: HEP3 specification, revision 37, chunk
/// types of vendor 0.
package struct HEPPacket: Sendable {
    /// The largest packet: its length has two bytes, and a datagram takes no more.
    static let longest = 65_507

    /// Chunk types of vendor 0.
    enum Chunk: UInt16 {
        case addressFamily = 1
        case transport = 2
        case sourceIPv4 = 3
        case destinationIPv4 = 4
        case sourceIPv6 = 5
        case destinationIPv6 = 6
        case sourcePort = 7
        case destinationPort = 8
        case seconds = 9
        case microseconds = 10
        case payloadType = 11
        case captureID = 12
        case authKey = 14
        case payload = 15
        case correlationID = 17
    }

    private let captureID: UInt32
    private let authKey: [UInt8]

    /// - Parameter authKey: the collector's shared secret; empty for none.
    package init(captureID: UInt32, authKey: String = "") {
        self.captureID = captureID
        self.authKey = Array(authKey.utf8)
    }

    /// The packet of a message; the payload is cut where the packet would be too long.
    package func bytes(of message: TracedMessage, callID: String, wallMicroseconds: Int64) -> [UInt8] {
        var packet = Array("HEP3".utf8) + [0, 0]
        packet.reserveCapacity(message.bytes.count + 256)
        let isIPv6 = message.source.isIPv6
        // AF_INET and AF_INET6 of Linux.
        Self.append(.addressFamily, [isIPv6 ? 10 : 2], to: &packet)
        // TLS is TCP for IP.
        Self.append(.transport, [message.transport == .udp ? 17 : 6], to: &packet)
        Self.append(isIPv6 ? .sourceIPv6 : .sourceIPv4, message.source.bytes, to: &packet)
        Self.append(isIPv6 ? .destinationIPv6 : .destinationIPv4, message.destination.bytes, to: &packet)
        Self.append(.sourcePort, Self.network(message.source.port), to: &packet)
        Self.append(.destinationPort, Self.network(message.destination.port), to: &packet)
        let seconds = UInt32(truncatingIfNeeded: wallMicroseconds / 1_000_000)
        Self.append(.seconds, Self.network(seconds), to: &packet)
        Self.append(.microseconds, Self.network(UInt32(truncatingIfNeeded: wallMicroseconds % 1_000_000)), to: &packet)
        Self.append(.payloadType, [1], to: &packet)
        Self.append(.captureID, Self.network(captureID), to: &packet)
        if !authKey.isEmpty { Self.append(.authKey, authKey, to: &packet) }
        Self.append(.correlationID, Array(callID.utf8.prefix(1024)), to: &packet)
        Self.append(.payload, Array(message.bytes.prefix(Self.longest - packet.count - 6)), to: &packet)
        let length = Self.network(UInt16(packet.count))
        packet[4] = length[0]
        packet[5] = length[1]
        return packet
    }

    private static func append(_ chunk: Chunk, _ value: [UInt8], to packet: inout [UInt8]) {
        packet += [0, 0] + network(chunk.rawValue) + network(UInt16(value.count + 6)) + value
    }

    private static func network(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
