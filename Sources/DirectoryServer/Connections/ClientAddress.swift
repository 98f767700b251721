// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// The client of a request or connection for counting: an IPv4 address, or an IPv6 /64.
///
/// On a socket for both families an IPv4 client has an IPv4-mapped address (RFC 4291 §2.5.5.2), and counts as that client.
///
/// A reverse proxy on the same machine is trusted: the last entry of its `X-Forwarded-For` is the client's address.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The peer of a connection.
    init(peer: SocketAddress?) { bytes = Self.bytes(of: peer) }

    /// - Parameter peer: the peer of the connection.
    init(peer: SocketAddress?, _ request: Request) {
        let forwarded = HTTPField.Name("X-Forwarded-For").flatMap { request.headers[$0] }?
            .split(separator: ",").last?.filter { !$0.isWhitespace }
        if let forwarded, Self.isLoopback(peer), let address = try? SocketAddress(ipAddress: forwarded, port: 0) {
            bytes = Self.bytes(of: address)
        } else {
            bytes = Self.bytes(of: peer)
        }
    }

    static func isLoopback(_ address: SocketAddress?) -> Bool {
        let bytes = bytes(of: address)
        return bytes.count == 4 ? bytes[0] == 127 : address?.ipAddress == "::1"
    }

    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    private static func bytes(of address: SocketAddress?) -> [UInt8] {
        let bytes = address?.ipAddress.flatMap(AddressBytes.init)?.bytes ?? []
        guard bytes.count == 16 else { return bytes }
        return Array(bytes.starts(with: mapped) ? bytes.suffix(4) : bytes.prefix(8))
    }
}
