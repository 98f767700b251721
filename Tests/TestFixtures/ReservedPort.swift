// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// TCP ports of 127.0.0.1 for servers that a test names before they listen.
///
/// A port that the system has assigned once can go to another test as soon as it is free. These ports lie below the range
/// from which Linux assigns (32768 to 60999), so only a test that asks here gets one.
package enum ReservedPort {
    private static let last = Mutex<UInt16>(UInt16(20_000 + Int(getpid() % 100) * 100))

    /// A port that nobody listens on; each call gives another.
    package static func next() -> UInt16 {
        last.withLock { last in
            repeat { last = last < 32_000 ? last + 1 : 20_000 } while !isFree(last)
            return last
        }
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
