// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A UDP socket of a trunk or a PBX on a loopback address.
final class UDPPeer: Sendable {
    private let descriptor: Int32

    init(_ host: String, port: UInt16 = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 100, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = Self.address(host, port)
        let descriptor = descriptor
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL) }
    }

    deinit { close(descriptor) }

    /// Sends a message to a port of an address.
    func send(_ text: String, to host: String, port: UInt16 = 5060) {
        let bytes = Array(text.utf8)
        var address = Self.address(host, port)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The next message; empty after 100 seconds.
    ///
    /// Waits on a thread of its own.
    func receive() async -> String { await Self.onThread { self.next() } }

    /// The next message; empty after 100 seconds.
    ///
    /// Blocks the thread.
    func next() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Does work on a thread of its own, where tests that run beside it do not delay it past the timers of SIP.
    static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in Thread.detachNewThread { done.resume(returning: work()) } }
    }

    private static func address(_ host: String, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return address
    }
}
