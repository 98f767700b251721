// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Port 5060 for TCP on a loopback address. It is closed with its last user.
final class TCPListener: Sendable {
    private let handle: Int32

    init(_ host: String) throws {
        let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.handle = handle
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(5060).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(handle, 4) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL)
        }
    }

    deinit { close(handle) }

    /// The next connection, which the caller closes; nil after `end`. Blocks the thread.
    func connection() -> Int32? {
        let connection = accept(handle, nil, nil)
        return connection < 0 ? nil : connection
    }

    /// Refuses connections from now on, and ends a wait for one.
    func end() { shutdown(handle, Int32(SHUT_RDWR)) }

    static func send(_ text: String, to connection: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
