// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// An HTTP server on a loopback port that takes call records and closes each connection after its response.
final class WebhookReceiver: Sendable {
    struct Request: Sendable {
        var head: String
        var body: String

        /// The value of a header field; empty without it.
        func field(_ name: String) -> String {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
                .map { String($0.dropFirst(name.count + 2)) } ?? ""
        }
    }

    let port: UInt16
    private let descriptor: Int32
    private let received = Mutex<[Request]>([])
    private let status: @Sendable (Request) -> Int

    /// - Parameter status: the response to each request; called on a thread of the connection.
    init(_ status: @escaping @Sendable (Request) -> Int) throws {
        self.status = status
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    var url: String { "http://127.0.0.1:\(port)/calls" }
    /// The requests in the order of their arrival.
    var requests: [Request] { received.withLock { $0 } }
    /// The idempotency keys of all requests, sorted.
    var keys: [String] { requests.map { $0.field("Idempotency-Key") }.sorted() }

    /// Ends the server; later connections are refused.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func accept() {
        while true {
            let connection = Glibc.accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            Thread.detachNewThread { [self] in serve(connection) }
        }
        Glibc.close(descriptor)
    }

    private func serve(_ connection: Int32) {
        defer { Glibc.close(connection) }
        guard let request = read(connection) else { return }
        received.withLock { $0.append(request) }
        let response = Array(
            "HTTP/1.1 \(status(request)) Status\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
        _ = send(connection, response, response.count, Int32(MSG_NOSIGNAL))
        shutdown(connection, Int32(SHUT_WR))
    }

    private func read(_ connection: Int32) -> Request? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
            text += String(decoding: buffer[..<count], as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let request = Request(head: String(text[..<end.lowerBound]), body: String(text[end.upperBound...]))
            if request.body.utf8.count >= Int(request.field("Content-Length")) ?? 0 { return request }
        }
        return nil
    }
}
