// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import Foundation
package import Host

extension EndpointAddress {
    /// 0, or the error number of a bind that is taken back at once.
    ///
    /// - Parameter mayBeAbsent: as for the socket of a shared address, which another machine may have.
    package func bindCode(_ wire: ListenRefusal.Wire, mayBeAbsent: Bool = false) -> Int32 {
        let kind = wire == .udp ? SOCK_DGRAM : SOCK_STREAM
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        if wire == .tcp { setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, size) }
        if isIPv6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isOn, size) }
        if mayBeAbsent {
            let (level, name) = isIPv6 ? (IPPROTO_IPV6, IPV6_FREEBIND) : (IPPROTO_IP, IP_FREEBIND)
            setsockopt(descriptor, Int32(level), name, &isOn, size)
        }
        guard let peer = SocketAddressBytes(host: host, port: port) else { return EINVAL }
        guard peer.withAddress({ bind(descriptor, $0, $1) }) == 0 else { return errno }
        // Two listeners may be bound with SO_REUSEADDR; only one of them can listen.
        guard wire == .tcp else { return 0 }
        return listen(descriptor, 1) == 0 ? 0 : errno
    }
}

/// An IP address and a port in the form of the system's calls.
package struct SocketAddressBytes {
    private var storage = sockaddr_storage()
    private let length: socklen_t

    /// Nil for a host that is no address literal.
    package init?(host: String, port: UInt16) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let first = list else { return nil }
        defer { freeaddrinfo(list) }
        let size = Int(first.pointee.ai_addrlen)
        length = first.pointee.ai_addrlen
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: first.pointee.ai_addr, count: size))
        }
    }

    /// Hands the address to a call.
    package func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
