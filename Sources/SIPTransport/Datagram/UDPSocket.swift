// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import HostSystem
package import SIPCore

/// A bound, non-blocking UDP socket; closed when released.
package final class UDPSocket: Sendable {
    /// The file descriptor.
    package let descriptor: Int32
    /// The address it is bound to, with the port the kernel chose when 0 was asked for.
    package let address: PeerAddress

    /// Bytes of receive and of send buffer a socket asks for.
    ///
    /// Twice `fullBuffer`, so that what comes while the worker is held up for some 30 ms in a flood is not lost.
    package static let wantedBuffer: Int32 = 2 * fullBuffer

    /// Bytes of a queue that counts as full.
    ///
    /// The kernel doubles it and counts 2.3 kB for a message of 1 kB (measured): about 3,600 of them.
    package static let fullBuffer: Int32 = 4 << 20

    /// Bytes of receive buffer the system granted; what comes while it is full is lost.
    package let receiveBuffer: Int

    /// How full the queue is: 1 where `fullBuffer` waits, or all that a smaller buffer holds.
    package var filling: Double {
        Self.filling(of: Double(herald_receive_filling(descriptor)) / 1000, in: receiveBuffer)
    }

    /// How full a buffer of so many bytes is of which a part is taken.
    static func filling(of part: Double, in room: Int) -> Double { part * max(Double(room) / Double(fullBuffer), 1) }

    /// Binds an address.
    ///
    /// - Parameter sharesPort: lets several sockets of this user have the same address and port (`SO_REUSEPORT`); the
    ///   kernel then gives all datagrams of one far end to the same of them.
    /// - Throws: `UDPSocketError.cannotBind` with the address and the system's reason; nothing stays open.
    package init(
        address: PeerAddress, sharesPort: Bool = false, bufferBytes: Int32 = wantedBuffer
    ) throws(UDPSocketError) {
        var octets = address.octets
        let descriptor = herald_open_datagram_socket(
            &octets, address.isIPv6 ? 1 : 0, address.port, sharesPort ? 1 : 0, bufferBytes)
        guard descriptor >= 0 else { throw .cannotBind(address: address, errno: -descriptor) }
        self.descriptor = descriptor
        receiveBuffer = Int(max(herald_receive_buffer(descriptor), 0))
        let port = herald_bound_port(descriptor)
        self.address = address.with(port: UInt16(truncatingIfNeeded: max(port, 0)))
    }

    deinit { close(descriptor) }

    /// Binds an address once for each of several workers.
    ///
    /// A first, unshared socket shows that no other program has the port, which sharing would hide.
    package static func shared(
        address: PeerAddress, by workers: Int, bufferBytes: Int32 = wantedBuffer
    ) throws(UDPSocketError) -> [UDPSocket] {
        if workers <= 1 { return [try UDPSocket(address: address, bufferBytes: bufferBytes)] }
        let address = try UDPSocket(address: address, bufferBytes: bufferBytes).address
        var sockets: [UDPSocket] = []
        for _ in 0..<workers {
            sockets.append(try UDPSocket(address: address, sharesPort: true, bufferBytes: bufferBytes))
        }
        return sockets
    }
}

/// Why a socket could not be opened; the program ends with this message before any call is touched.
package enum UDPSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotBind(address: PeerAddress, errno: Int32)

    package var description: String {
        switch self {
        case .cannotBind(let address, let errno):
            ListenRefusal(.udp, "\(address)", code: errno, key: "listen.address").description
        }
    }
}

extension PeerAddress {
    /// The address in network order, IPv4 in the first four bytes.
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

    /// Reads the far end of a received datagram.
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

    /// Writes itself as the far end of a datagram to be sent.
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
