// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// One response of a server.
struct Response: Equatable {
    var status: Int
    var type: String
    var body: String
}

/// Asks a server on 127.0.0.1 and reads until it closes the connection.
enum LoopbackClient {
    struct NoResponse: Error {}

    /// Asks on a thread of its own: a blocked one of the pool would be missing to the server.
    static func get(_ path: String, port: Int) async throws -> Response {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread {
                done.resume(
                    with: Result { try response(ask("GET \(path) HTTP/1.1", port: port, end: "\r\n\r\n")) })
            }
        }
    }

    /// Sends these header lines and returns what came back, head and body.
    ///
    /// - Parameter end: what follows the lines; anything but an empty line leaves the request open.
    static func exchange(
        _ lines: String, port: Int, end: String = "\r\n\r\n"
    ) async throws -> (head: String, body: String) {
        let text: String = try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try ask(lines, port: port, end: end) }) }
        }
        guard let separator = text.range(of: "\r\n\r\n") else { throw NoResponse() }
        return (String(text[..<separator.lowerBound]), String(text[separator.upperBound...]))
    }

    private static func ask(_ lines: String, port: Int, end: String) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 450, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafeBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) { connect(descriptor, $0.baseAddress, 16) == 0 }
        }
        guard isConnected else { throw NoResponse() }
        let request = Array("\(lines)\r\nHost: 127.0.0.1\r\nConnection: close\(end)".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw NoResponse()
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { received += buffer[..<count] }
        return String(decoding: received, as: UTF8.self)
    }

    private static func response(_ text: String) throws -> Response {
        guard let end = text.range(of: "\r\n\r\n") else { throw NoResponse() }
        let head = text[..<end.lowerBound].components(separatedBy: "\r\n")
        guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw NoResponse()
        }
        let type = head.first { $0.lowercased().hasPrefix("content-type: ") }?.dropFirst("content-type: ".count)
        return Response(status: status, type: type.map(String.init) ?? "", body: String(text[end.upperBound...]))
    }
}
