// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SIPCore
import SIPTransport
import Synchronization

/// A question as it came in.
struct NameQuestionBytes: Sendable {
    let bytes: [UInt8]
    let name: String
    /// Behind the name, its type and its class.
    let questionEnd: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var labels: [String] = []
        var position = 12
        while position < bytes.count, bytes[position] != 0 {
            let end = min(position + 1 + Int(bytes[position]), bytes.count)
            labels.append(String(decoding: bytes[(position + 1)..<end], as: UTF8.self))
            position = end
        }
        name = labels.joined(separator: ".")
        questionEnd = min(position + 5, bytes.count)
    }

    /// True when more than the question came, an OPT record that is.
    var hasOPT: Bool { bytes.count > questionEnd }

    /// A response to it; `count` claims another number of records.
    func response(_ records: [[UInt8]], code: UInt8 = 0, isTruncated: Bool = false, count: Int? = nil) -> [UInt8] {
        let count = count ?? records.count
        let flags: [UInt8] = [isTruncated ? 0x82 : 0x80, code]
        let counts = [0, 1, UInt8(count >> 8 & 255), UInt8(count & 255), 0, 0, 0, 0]
        return bytes[0..<2] + flags + counts + bytes[12..<questionEnd] + records.joined()
    }
}

/// Writes resource records.
enum RecordBytes {
    /// A pointer to the name in the question.
    static let questionName: [UInt8] = [0xC0, 12]

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func record(_ type: UInt16, _ data: [UInt8], ttl: UInt32 = 300, owner: [UInt8] = questionName) -> [UInt8] {
        owner + pair(type) + [0, 1] + pair(UInt16(ttl >> 16)) + pair(UInt16(ttl & 0xFFFF)) + pair(UInt16(data.count))
            + data
    }

    static func a(_ last: UInt8, ttl: UInt32 = 300, owner: [UInt8] = questionName) -> [UInt8] {
        record(1, [192, 0, 2, last], ttl: ttl, owner: owner)
    }

    static func srv(_ priority: UInt16, _ weight: UInt16, _ port: UInt16, _ target: [UInt8]) -> [UInt8] {
        record(33, pair(priority) + pair(weight) + pair(port) + target)
    }

    static func pair(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
}

/// A name server on loopback, which responds to each query with the datagrams of a test.
final class NameServer: Sendable {
    typealias Script = @Sendable (NameQuestionBytes) -> [[UInt8]]

    let address: PeerAddress
    let observed = Observed()
    private let worker: TransportWorker

    init(at address: PeerAddress = UDPSocketTests.loopback, _ script: @escaping Script) throws {
        let socket = try UDPSocket(address: address)
        self.address = socket.address
        worker = TransportWorker(sockets: [socket])
        let observed = observed
        worker.start { EchoElement(observed) { script(NameQuestionBytes($0)) } }
    }

    deinit { worker.stop() }
}

/// A name server that cuts off each response in a datagram, and gives the whole one over TCP at the same address.
final class BriefNameServer: Sendable {
    var address: PeerAddress { datagrams.address }
    private let datagrams: NameServer
    private let stream: NameStreamServer

    /// - Parameter script: nil lets callers over TCP wait.
    init(overTCP script: NameServer.Script?) throws {
        // A port that is free for datagrams may be another test's for TCP.
        for _ in 0..<20 {
            let datagrams = try NameServer { [$0.response([], isTruncated: true)] }
            guard let stream = NameStreamServer(at: datagrams.address, script) else { continue }
            self.datagrams = datagrams
            self.stream = stream
            return
        }
        throw POSIXError(.EADDRINUSE)
    }
}

/// A listener for name questions over TCP at an address; without a script it lets callers wait.
private final class NameStreamServer: Sendable {
    private let descriptor: Int32

    init?(at address: PeerAddress, _ script: NameServer.Script?) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var local = sockaddr_in()
        local.sin_family = sa_family_t(AF_INET)
        local.sin_port = address.port.bigEndian
        local.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &local) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(descriptor, 4) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        if let script { respondOnce(script) }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// One connection, one query, one response with its length before it (RFC 1035 §4.2.2).
    private func respondOnce(_ script: @escaping NameServer.Script) {
        let descriptor = descriptor
        Thread.detachNewThread {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { return }
            defer { close(connection) }
            var question = [UInt8](repeating: 0, count: 600)
            var length = 0
            while length < 2 || length < 2 + Int(question[0]) << 8 + Int(question[1]) {
                let got = question.withUnsafeMutableBytes { room in
                    recv(connection, room.baseAddress?.advanced(by: length), room.count - length, 0)
                }
                guard got > 0 else { return }
                length += got
            }
            for response in script(NameQuestionBytes(Array(question[2..<length]))) {
                let bytes = RecordBytes.pair(UInt16(response.count)) + response
                send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
    }
}
