// SPDX-License-Identifier: Apache-2.0

import TestFixtures

/// A client of the zone's server on 127.0.0.1.
final class ZoneClient {
    private let socket: LoopbackSocket
    private let isStream: Bool

    /// Connects to a port.
    ///
    /// - Parameter from: the client's own address; it must be one of this machine.
    init(_ port: Int, overTCP: Bool = false, from source: String = "127.0.0.1") throws {
        isStream = overTCP
        socket = try LoopbackSocket(port, isStream: overTCP, from: source)
    }

    /// Sends bytes as they are.
    func send(_ bytes: [UInt8]) { socket.send(bytes) }

    /// Sends messages, over TCP each behind its length, in one piece.
    func send(messages: [[UInt8]]) {
        guard isStream else { return messages.forEach { socket.send($0) } }
        socket.send(messages.flatMap { DNSBytes.message(DNSBytes.pair(UInt16($0.count)), $0) })
    }

    /// The next message; nil after 5 s without one, or after the end of the connection.
    func receive() -> [UInt8]? {
        guard isStream else { return socket.receive(atMost: 2_048) }
        guard let length = exactly(2) else { return nil }
        return exactly(Int(length[0]) << 8 | Int(length[1]))
    }

    private func exactly(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let piece = socket.receive(atMost: count - bytes.count), !piece.isEmpty else { return nil }
            bytes += piece
        }
        return bytes
    }

    /// Sends one query and reads its response.
    func ask(_ query: [UInt8]) -> DNSBytes? {
        send(messages: [query])
        return receive().flatMap { DNSBytes($0) }
    }
}
