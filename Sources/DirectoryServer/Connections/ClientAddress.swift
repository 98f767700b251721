// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// The client of a request or connection for counting: an IPv4 address, or an IPv6 /64.
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
        guard let text = address?.ipAddress else { return false }
        return text.hasPrefix("127.") || text == "::1"
    }

    private static func bytes(of address: SocketAddress?) -> [UInt8] {
        let bytes = address?.ipAddress.flatMap(AddressBytes.init)?.bytes ?? []
        return bytes.count == 16 ? Array(bytes.prefix(8)) : bytes
    }
}
