// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A socket for bytes of a test's choice, from an address of this machine to a port of 127.0.0.1.
package final class LoopbackSocket {
    private let handle: Int32

    /// Connects to a port.
    ///
    /// - Parameters:
    ///   - isStream: true for TCP, false for UDP.
    ///   - source: the own address, in 127.0.0.0/8.
    ///   - patience: in milliseconds, for one read.
    package init(_ port: Int, isStream: Bool, from source: String = "127.0.0.1", patience: Int = 5_000) throws {
        let kind = Int32((isStream ? SOCK_STREAM : SOCK_DGRAM).rawValue)
        handle = socket(AF_INET, kind | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: patience / 1_000, tv_usec: patience % 1_000 * 1_000)
        setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let handle = handle
        guard Self.call(source, 0, { bind(handle, $0, $1) }) == 0,
            Self.call("127.0.0.1", UInt16(port), { connect(handle, $0, $1) }) == 0
        else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(handle) }

    private static func call(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Sends bytes as they are; false if the other side has closed.
    @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(handle, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads once; nil without bytes in time, and after the end of a connection. A datagram may be empty.
    package func receive(atMost count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(handle, &bytes, count, 0)
        return received < 0 ? nil : Array(bytes.prefix(received))
    }
}
