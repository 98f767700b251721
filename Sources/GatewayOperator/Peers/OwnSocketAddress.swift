// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfiguration
import SIPCore

/// Addresses of this machine's own sockets.
enum OwnSocketAddress {
    /// The address that a socket sends from; nil if it has none.
    static func of(_ descriptor: Int32) -> PeerAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: 16)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0
                    ? getnameinfo(
                        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                        NI_NUMERICHOST | NI_NUMERICSERV) : -1
            }
        }
        guard code == 0, let number = UInt16(text(port)) else { return nil }
        return PeerAddress(host: Array(text(host).utf8)[...], port: number)
    }

    /// The address from which the system sends to a peer; nil without a route.
    ///
    /// - Parameter host: an address literal, IPv6 without brackets. Nothing is sent to it.
    static func towards(_ host: String) -> String? {
        guard let peer = SocketAddressBytes(host: host, port: 5060) else { return nil }
        let family = host.contains(":") ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard peer.withAddress({ connect(descriptor, $0, $1) }) == 0 else { return nil }
        return of(descriptor)?.bareHostText
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
