// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A socket of a test's client on 127.0.0.1, connected to the zone's server.
final class ZoneClient {
    private let handle: Int32
    private let isStream: Bool

    /// Connects to a port.
    ///
    /// - Parameter from: the client's own address; it must be one of this machine.
    init(_ port: Int, overTCP: Bool = false, from source: String = "127.0.0.1") throws {
        isStream = overTCP
        let kind = Int32((overTCP ? SOCK_STREAM : SOCK_DGRAM).rawValue)
        handle = socket(AF_INET, kind | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard Self.call(source, 0, { bind(handle, $0, $1) }) == 0,
            Self.call("127.0.0.1", UInt16(port), { connect(handle, $0, $1) }) == 0
        else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(handle) }

    private static func call(_ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends bytes as they are.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(handle, bytes, bytes.count, Int32(MSG_NOSIGNAL.rawValue)) == bytes.count
    }

    /// Sends messages, over TCP each behind its length, in one piece.
    @discardableResult func send(messages: [[UInt8]]) -> Bool {
        send(messages.flatMap { (isStream ? DNSBytes.pair(UInt16($0.count)) : []) + $0 })
    }

    /// The next message; nil after 5 s without one, or after the end of the connection.
    func receive() -> [UInt8]? {
        guard isStream else {
            var bytes = [UInt8](repeating: 0, count: 2_048)
            let count = recv(handle, &bytes, bytes.count, 0)
            return count < 0 ? nil : Array(bytes.prefix(count))
        }
        guard let length = exactly(2) else { return nil }
        return exactly(Int(length[0]) << 8 | Int(length[1]))
    }

    private func exactly(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            let next = recv(handle, &piece, piece.count, 0)
            guard next > 0 else { return nil }
            bytes += piece.prefix(next)
        }
        return bytes
    }

    /// Sends one query and reads its response.
    func ask(_ query: [UInt8]) -> DNSBytes? {
        send(messages: [query])
        return receive().flatMap { DNSBytes($0) }
    }
}
