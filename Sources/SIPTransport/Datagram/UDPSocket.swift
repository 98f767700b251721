// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Host
public import SIPCore

/// A bound, non-blocking UDP socket. Closed when released.
public final class UDPSocket: Sendable {
    /// The file descriptor.
    public let descriptor: Int32
    /// The bound address. A port 0 is replaced by the kernel's choice.
    public let address: PeerAddress

    /// Requested bytes of receive and of send buffer.
    ///
    /// Twice `fullBuffer`: no datagram is lost while the worker is delayed for some 30 ms in a flood.
    public static let wantedBuffer: Int32 = 2 * fullBuffer

    /// Waiting bytes that count as full.
    ///
    /// The kernel doubles it and counts 2.3 kB for a message of 1 kB (measured): about 3,600 messages.
    public static let fullBuffer: Int32 = 4 << 20

    /// Granted bytes of receive buffer. Datagrams are lost while it is full.
    public let receiveBuffer: Int

    /// The fill level: 1 for `fullBuffer` waiting bytes, or for a full smaller buffer.
    public var filling: Double {
        Self.filling(of: Double(herald_receive_filling(descriptor)) / 1000, in: receiveBuffer)
    }

    /// Returns the fill level of a buffer with `capacity` bytes, of which `part` is used.
    static func filling(of part: Double, in capacity: Int) -> Double {
        part * max(Double(capacity) / Double(fullBuffer), 1)
    }

    /// Binds an address.
    ///
    /// - Parameter sharesPort: permits several sockets of this user on the same address and port (`SO_REUSEPORT`). The
    ///   kernel gives all datagrams of one far end to the same socket.
    /// - Parameter mayBeAbsent: binds an address that another machine has at present (`IP_FREEBIND`).
    /// - Throws: `UDPSocketError.cannotBind` with the address and the system's error. No socket stays open.
    public init(
        address: PeerAddress, sharesPort: Bool = false, mayBeAbsent: Bool = false, bufferBytes: Int32 = wantedBuffer
    ) throws(UDPSocketError) {
        var octets = address.octets
        let descriptor = herald_open_datagram_socket(
            &octets, address.isIPv6 ? 1 : 0, address.port, sharesPort ? 1 : 0, mayBeAbsent ? 1 : 0, bufferBytes)
        guard descriptor >= 0 else { throw .cannotBind(address: address, errno: -descriptor) }
        self.descriptor = descriptor
        receiveBuffer = Int(max(herald_receive_buffer(descriptor), 0))
        let port = herald_bound_port(descriptor)
        self.address = address.with(port: UInt16(truncatingIfNeeded: max(port, 0)))
    }

    deinit { close(descriptor) }

    /// Binds an address once per worker.
    ///
    /// A first, unshared socket shows that no other program has the port. Sharing would hide that.
    public static func shared(
        address: PeerAddress, by workers: Int, mayBeAbsent: Bool = false, bufferBytes: Int32 = wantedBuffer
    ) throws(UDPSocketError) -> [UDPSocket] {
        func unshared() throws(UDPSocketError) -> UDPSocket {
            try UDPSocket(address: address, mayBeAbsent: mayBeAbsent, bufferBytes: bufferBytes)
        }
        if workers <= 1 { return [try unshared()] }
        let bound = try unshared().address
        var sockets: [UDPSocket] = []
        for _ in 0..<workers {
            sockets.append(
                try UDPSocket(address: bound, sharesPort: true, mayBeAbsent: mayBeAbsent, bufferBytes: bufferBytes))
        }
        return sockets
    }
}

/// A socket could not be opened. The program ends with this message before the first call.
public enum UDPSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotBind(address: PeerAddress, errno: Int32)

    public var description: String {
        switch self {
        case .cannotBind(let address, let errno):
            ListenRefusal(.udp, "\(address)", code: errno, key: "listen.address").description
        }
    }
}

extension PeerAddress {
    /// The address in network byte order; IPv4 in the first four bytes.
    var octets: [UInt8] {
        var octets = [UInt8](repeating: 0, count: 16)
        if isIPv6 {
            for index in 0..<8 {
                octets[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
                octets[index + 8] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
            }
        } else {
            for index in 0..<4 { octets[index] = UInt8(truncatingIfNeeded: low >> UInt64(24 - 8 * index)) }
        }
        return octets
    }

    /// Reads the sender of a received datagram.
    init(_ datagram: borrowing herald_datagram) {
        let (high, low) = withUnsafeBytes(of: datagram.address) { raw in
            (raw.loadUnaligned(as: UInt64.self), raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        if datagram.is_ipv6 != 0 {
            self.init(ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low), port: datagram.port)
        } else {
            self.init(ipv4: UInt32(truncatingIfNeeded: UInt64(bigEndian: high) >> 32), port: datagram.port)
        }
    }

    /// Sets the address as the far end of a datagram to be sent.
    func write(to datagram: inout herald_datagram) {
        withUnsafeMutableBytes(of: &datagram.address) { raw in
            let first = isIPv6 ? high : low << 32
            raw.storeBytes(of: first.bigEndian, as: UInt64.self)
            raw.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        datagram.port = port
        datagram.is_ipv6 = isIPv6 ? 1 : 0
    }
}
