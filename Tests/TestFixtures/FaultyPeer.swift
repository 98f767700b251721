// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// An HTTP server on a loopback port that responds as well or as badly as a test demands, byte by byte.
///
/// One thread accepts, one thread per connection reads a request, responds and closes.
package final class FaultyPeer: Sendable {
    package struct Request: Sendable {
        package var method = ""
        /// Path and query as they came.
        package var target = ""
        /// Names in lower case.
        package var headers: [String: String] = [:]
        package var body = ""

        package var path: String { String(target.prefix { $0 != "?" }) }
    }

    package enum Response: Sendable {
        /// A well-formed response.
        case status(Int, headers: [String: String] = [:], body: String = "")
        /// These bytes, then the end of the connection.
        case raw(String)
        /// Nothing, until the client goes away.
        case silence
        /// These bytes, then nothing until the client goes away.
        case stall(String)
        /// These bytes, then the end of the connection; for what is no text.
        case bytes([UInt8])
        /// These bytes, then more without end, until the client goes away.
        case endless(String)

        /// A refusal with the contract's error body, as the directory itself sends it.
        package static func refusal(_ status: Int) -> Response {
            .status(
                status, headers: ["Content-Type": "application/json"],
                body: #"{"success":false,"error":"refused","code":null}"#)
        }

        package static func json(_ body: String) -> Response {
            .status(200, headers: ["Content-Type": "application/json"], body: body)
        }
    }

    package let port: UInt16
    private let listener: Int32
    private let received = Mutex<[Request]>([])
    private let response: @Sendable (Request, Int) -> Response

    /// - Parameter response: gets each request with its position, counted from zero.
    package init(_ response: @escaping @Sendable (Request, Int) -> Response) throws {
        self.response = response
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, 64) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    package var url: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { received.withLock { $0 } }

    /// Ends the server; later connections are refused.
    package func close() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func accept() {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            guard connection >= 0 else { break }
            Thread.detachNewThread { [self] in serve(connection) }
        }
        Glibc.close(listener)
    }

    private func serve(_ connection: Int32) {
        defer { Glibc.close(connection) }
        guard let request = read(connection) else { return }
        let position = received.withLock { requests in
            requests.append(request)
            return requests.count - 1
        }
        switch response(request, position) {
        case .status(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Status\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            write(connection, head + "\r\n" + body)
        case .raw(let text):
            write(connection, text)
        case .stall(let text):
            write(connection, text)
            _ = receive(connection)
        case .bytes(let bytes):
            write(connection, bytes)
        case .endless(let text):
            write(connection, text)
            while write(connection, [UInt8](repeating: 0x2E, count: 65_536)) {}
        case .silence:
            _ = receive(connection)
        }
        shutdown(connection, Int32(SHUT_WR))
    }

    private func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                var request = Self.parse(String(text[..<end.lowerBound]))
                let body = text[end.upperBound...]
                let length = request.headers["content-length"].flatMap(Int.init) ?? 0
                if body.utf8.count >= length {
                    request.body = String(body)
                    return request
                }
            }
            guard let more = receive(connection) else { return nil }
            bytes += more
        }
    }

    private static func parse(_ head: String) -> Request {
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        var request = Request(method: String(words[0]), target: String(words[1]))
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            request.headers[line[..<colon].lowercased()] = value
        }
        return request
    }

    private func receive(_ connection: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(connection, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func write(_ connection: Int32, _ text: String) { write(connection, Array(text.utf8)) }

    /// - Returns: false when the client has gone away.
    @discardableResult
    private func write(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
