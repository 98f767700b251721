// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// TCP connections to a port of 127.0.0.1 that send nothing more, reset with the object.
final class IdleConnections: Sendable {
    private let descriptors: [Int32]

    /// Opens connections.
    ///
    /// - Parameters:
    ///   - host: the last byte of the clients' address in 127.0.0.0/24.
    ///   - text: sent by each connection.
    init(_ count: Int, to port: Int, from host: UInt32 = 1, sending text: String = "") {
        descriptors = (0..<count).compactMap { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            let isBound = Self.call(0, host) { bind(descriptor, $0, $1) == 0 }
            guard isBound, Self.call(UInt16(port), 1, { connect(descriptor, $0, $1) == 0 }) else {
                close(descriptor)
                return nil
            }
            let bytes = Array(text.utf8)
            if !bytes.isEmpty { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
            return descriptor
        }
    }

    /// A close without a linger time sends a reset (RFC 9293 §3.10.4).
    deinit {
        var now = linger(l_onoff: 1, l_linger: 0)
        for descriptor in descriptors {
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
            close(descriptor)
        }
    }

    /// What comes next on the first one; empty after ten seconds.
    func received() -> String {
        guard let descriptor = descriptors.first else { return "" }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    private static func call(
        _ port: UInt16, _ host: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | host).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
