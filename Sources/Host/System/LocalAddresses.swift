// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

/// The addresses of this machine, read at one instant.
///
/// A shared address (VRRP) leaves a machine and arrives while sockets are bound to it. Linux sends nothing from an address that
/// the machine does not have.
public struct LocalAddresses: Sendable {
    private let interfaces: Set<[UInt8]>
    private let asksSystem: Bool

    /// Reads the addresses of all interfaces; nil if the system does not list them.
    public init?() {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        interfaces = Set(sequence(first: list, next: { $0?.pointee.ifa_next }).compactMap { Self.bytes(of: $0) })
        asksSystem = true
    }

    /// Takes address literals in place of the system's.
    public init(_ hosts: [String]) {
        interfaces = Set(hosts.compactMap { AddressBytes($0)?.bytes })
        asksSystem = false
    }

    /// True if the machine has the address, or if the text is a wildcard or no address.
    ///
    /// - Parameter host: an address literal, IPv6 without brackets.
    public func has(_ host: String) -> Bool {
        guard let bytes = AddressBytes(host)?.bytes, bytes.contains(where: { $0 != 0 }) else { return true }
        return interfaces.contains(bytes) || asksSystem && bytes.count == 4 && Self.sends(from: host)
    }

    /// Asks the system whether it sends from an IPv4 address.
    ///
    /// Addresses of a local route belong to no interface, such as 127.0.0.2 (ip-route(8), type `local`).
    private static func sends(from host: String) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_FREEBIND, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, host, &address.sin_addr)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, length) == 0 else { return false }
                // A datagram socket sends nothing here: the system looks for a route from the address (port 9 is discard).
                pointer.pointee.sin_port = UInt16(9).bigEndian
                return connect(descriptor, generic, length) == 0
            }
        }
    }

    private static func bytes(of interface: UnsafeMutablePointer<ifaddrs>?) -> [UInt8]? {
        guard let address = interface?.pointee.ifa_addr else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
                withUnsafeBytes(of: four.pointee.sin_addr) { [UInt8]($0) }
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { six in
                withUnsafeBytes(of: six.pointee.sin6_addr) { [UInt8]($0) }
            }
        default: return nil
        }
    }
}
