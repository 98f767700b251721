// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Writes a traced message as a packet of the Homer Encapsulation Protocol, version 3.
///
/// A packet is `HEP3`, its length in two bytes, and chunks. A chunk is a vendor (0), a type and a length in two bytes each, and
/// a value; the length includes these six bytes. Numbers are in network order. Source: HEP3 specification, revision 37, chunk
/// types of vendor 0.
struct HEPPacket: Sendable {
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
    private let authKey: Concealed<[UInt8]>

    /// - Parameter authKey: the collector's shared secret; empty for none.
    init(captureID: UInt32, authKey: String = "") {
        self.captureID = captureID
        self.authKey = Concealed(Array(authKey.utf8))
    }

    /// The end of a hop: an address and a port.
    struct Address: Hashable, Sendable {
        /// The address bytes in network order as two integers; IPv4 has the low 32 bits of `low`.
        let high: UInt64
        let low: UInt64
        let port: UInt16
        let isIPv6: Bool
    }

    /// The facts of a message beside its text.
    struct Head: Hashable, Sendable {
        var source: Address
        var destination: Address
        var transport: TracedMessage.Transport
        var wallMicroseconds: Int64
    }

    /// Appends the packet of a message; the payload is cut where the packet would be too long.
    ///
    /// - Parameters:
    ///   - callID: appends the correlation identifier, of which 1,024 bytes count.
    ///   - payload: appends the message.
    func append(
        _ head: Head, to packet: inout [UInt8], callID: (inout [UInt8]) -> Void, payload: (inout [UInt8]) -> Void
    ) {
        let start = packet.count
        Self.append(0x4845_5033 as UInt32, to: &packet)  // HEP3
        Self.append(0 as UInt16, to: &packet)
        let isIPv6 = head.source.isIPv6 || head.destination.isIPv6
        // AF_INET and AF_INET6 of Linux.
        Self.append(.addressFamily, (isIPv6 ? 10 : 2) as UInt8, to: &packet)
        // TLS is TCP for IP.
        Self.append(.transport, (head.transport == .udp ? 17 : 6) as UInt8, to: &packet)
        Self.append(isIPv6 ? .sourceIPv6 : .sourceIPv4, head.source, isIPv6: isIPv6, to: &packet)
        Self.append(isIPv6 ? .destinationIPv6 : .destinationIPv4, head.destination, isIPv6: isIPv6, to: &packet)
        Self.append(.sourcePort, head.source.port, to: &packet)
        Self.append(.destinationPort, head.destination.port, to: &packet)
        Self.append(.seconds, UInt32(truncatingIfNeeded: head.wallMicroseconds / 1_000_000), to: &packet)
        Self.append(.microseconds, UInt32(truncatingIfNeeded: head.wallMicroseconds % 1_000_000), to: &packet)
        Self.append(.payloadType, 1 as UInt8, to: &packet)
        Self.append(.captureID, captureID, to: &packet)
        let authKey = authKey.reveal()
        if !authKey.isEmpty { Self.append(.authKey, to: &packet, longest: Self.longest) { $0 += authKey } }
        Self.append(.correlationID, to: &packet, longest: 1024, callID)
        Self.append(.payload, to: &packet, longest: Self.longest - (packet.count - start) - 6, payload)
        Self.store(packet.count - start, in: &packet, at: start + 4)
    }

    /// Appends a chunk whose value is written in its place.
    private static func append(
        _ chunk: Chunk, to packet: inout [UInt8], longest: Int, _ value: (inout [UInt8]) -> Void
    ) {
        appendHead(of: chunk, length: 0, to: &packet)
        let start = packet.count
        value(&packet)
        if packet.count - start > longest { packet.removeLast(packet.count - start - longest) }
        store(packet.count - start + 6, in: &packet, at: start - 2)
    }

    private static func append(_ chunk: Chunk, _ value: some FixedWidthInteger, to packet: inout [UInt8]) {
        appendHead(of: chunk, length: value.bitWidth / 8, to: &packet)
        append(value, to: &packet)
    }

    private static func append(_ chunk: Chunk, _ address: Address, isIPv6: Bool, to packet: inout [UInt8]) {
        appendHead(of: chunk, length: isIPv6 ? 16 : 4, to: &packet)
        guard isIPv6 else { return append(UInt32(truncatingIfNeeded: address.low), to: &packet) }
        append(address.high, to: &packet)
        // An IPv4 end beside an IPv6 end is written as a mapped address (RFC 4291 §2.5.5.2).
        append(address.isIPv6 ? address.low : address.low | 0xFFFF_0000_0000, to: &packet)
    }

    private static func appendHead(of chunk: Chunk, length: Int, to packet: inout [UInt8]) {
        append(0 as UInt16, to: &packet)
        append(chunk.rawValue, to: &packet)
        append(UInt16(length + 6), to: &packet)
    }

    private static func append(_ value: some FixedWidthInteger, to packet: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { packet.append(contentsOf: $0) }
    }

    private static func store(_ length: Int, in packet: inout [UInt8], at position: Int) {
        packet[position] = UInt8(truncatingIfNeeded: length >> 8)
        packet[position + 1] = UInt8(truncatingIfNeeded: length)
    }
}
