// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SIPCore
import Synchronization
import Testing

@testable import SIPTransport

/// What the streams of a test handed to their worker, kept in order.
final class StreamObserver: Sendable {
    private let kept = Mutex<[StreamArrival]>([])
    private let inboxBox = Mutex<StreamInbox?>(nil)
    private let told = Mutex<[String]>([])

    init(mostBytes: Int = 16 << 20) {
        let inbox = StreamInbox(mostBytes: mostBytes) {}
        inboxBox.withLock { $0 = inbox }
    }

    var inbox: StreamInbox { inboxBox.withLock { $0 } ?? StreamInbox {} }

    /// Messages that came, as text.
    var messages: [(text: String, flow: Flow)] {
        take()
        return kept.withLock { kept in
            kept.compactMap { arrival in
                guard case .message(let bytes, let flow) = arrival else { return nil }
                return (String(decoding: bytes, as: UTF8.self), flow)
            }
        }
    }

    /// Tokens of messages that were not delivered.
    var failures: [DeliveryToken] {
        take()
        return kept.withLock { kept in
            kept.compactMap { if case .sendFailed(let token) = $0 { token } else { nil } }
        }
    }

    /// Connections that did not come about, in the words of the log.
    var troubles: [String] { told.withLock { $0 } }

    @Sendable func tell(_ trouble: StreamTrouble) { told.withLock { $0.append("\(trouble)") } }

    private func take() {
        var backlog = StreamBacklog(of: inbox)
        backlog.renew()
        kept.withLock { kept in while !backlog.isEmpty { backlog.takeRound { kept.append($0) } } }
    }
}

/// A TCP connection made by hand, byte for byte.
final class RawStream: Sendable {
    private let descriptor: Int32

    /// Connects to a port of 127.0.0.1; nil when refused.
    ///
    /// - Parameter host: the last byte of its own address 127.0.0.0.
    init?(port: UInt16, from host: UInt32 = 1) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = (UInt32(0x7F00_0000) | host).bigEndian
        let descriptor = descriptor
        _ = withUnsafePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var timeout = timeval(tv_sec: 100, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { return nil }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// What comes next, at most 4 kB; empty when the far end has closed, nil when nothing came in ten seconds.
    func receive() -> String? {
        var room = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &room, room.count, 0)
        return count < 0 && errno != ECONNRESET ? nil : String(decoding: room.prefix(max(count, 0)), as: UTF8.self)
    }
}

/// A port of 127.0.0.1 that refuses connections as long as this lives.
///
/// The port stays bound without a listener and without SO_REUSEADDR. The system therefore gives it to no other socket,
/// as it does with the port of a listener that has closed.
final class ClosedPort {
    private let descriptor: Int32
    let address: PeerAddress

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var local = sockaddr_in()
        local.sin_family = sa_family_t(AF_INET)
        local.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &local) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound, "no port of 127.0.0.1 is free")
        address = PeerAddress(ipv4: 0x7F00_0001, port: UInt16(bigEndian: local.sin_port))
    }

    deinit { close(descriptor) }
}
