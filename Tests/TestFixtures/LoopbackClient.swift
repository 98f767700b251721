// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// One response of the server.
package struct ReceivedResponse: Equatable, Sendable {
    package var status: Int
    /// Names in lower case.
    package var headers: [String: String]
    /// Start line and header lines as they came.
    package var head: String
    package var body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// A request written to the letter: no library mends a path or a length on the way.
package struct RawRequest: Sendable {
    package var method = "GET"
    package var path: String
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8] = []
    /// Sends the body in chunks, so that its size is not announced.
    package var isChunked = false
    /// The size to announce; nil for the size it has, negative for none.
    package var announced: Int?
    /// Leaves the header open: a last line begins and never ends.
    package var isUnfinished = false

    package init(
        method: String = "GET", path: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        isChunked: Bool = false, announced: Int? = nil, isUnfinished: Bool = false
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.isChunked = isChunked
        self.announced = announced
        self.isUnfinished = isUnfinished
    }

    fileprivate var bytes: [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if isUnfinished { return Array((head + "X-Slow: ").utf8) }
        if isChunked {
            head += "Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n"
            return Array(head.utf8) + body + Array("\r\n0\r\n\r\n".utf8)
        }
        if method != "GET", method != "HEAD", announced ?? 0 >= 0 {
            head += "Content-Length: \(announced ?? body.count)\r\n"
        }
        return Array((head + "\r\n").utf8) + body
    }
}

/// Asks a server on 127.0.0.1 over a connection of its own.
package enum LoopbackClient {
    package struct NoResponse: Error {
        package let received: String
    }

    /// Asks for a page.
    package static func get(_ path: String, port: Int) async throws -> ReceivedResponse {
        try await ask(RawRequest(path: path), port: port)
    }

    /// Asks on a thread of its own: a blocked one of the pool would be missing to the server.
    package static func ask(_ request: RawRequest, port: Int) async throws -> ReceivedResponse {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try exchange(request, port: port) }) }
        }
    }

    /// Asks on the caller's own thread, for a server that passes requests on.
    package static func askHere(_ request: RawRequest, port: Int) throws -> ReceivedResponse {
        try exchange(request, port: port)
    }

    /// A connection to a server.
    ///
    /// - Parameter window: bytes that the system keeps for a reader; nil for as many as it likes.
    fileprivate static func connected(to port: Int, window: Int32? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var window { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &window, 4) }
        // sockaddr_in as it lies in memory: family, port, 127.0.0.1.
        let head = withUnsafeBytes(of: sa_family_t(AF_INET)) { Array($0) }
        let address = head + [UInt8(port >> 8), UInt8(port & 255), 127, 0, 0, 1] + Array(repeating: 0, count: 8)
        let isConnected = address.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: sockaddr.self) { connect(descriptor, $0.baseAddress, 16) == 0 }
        }
        guard isConnected else {
            close(descriptor)
            throw NoResponse(received: "no connection")
        }
        return descriptor
    }

    /// Sends as much as the server takes: it may turn a request down before it has all of it.
    fileprivate static func write(_ request: RawRequest, to descriptor: Int32) {
        var rest = request.bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
    }

    private static func exchange(_ request: RawRequest, port: Int) throws -> ReceivedResponse {
        let descriptor = try connected(to: port)
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 450, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        write(request, to: descriptor)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
            received += buffer[..<count]
            if let parsed = try? parse(received), parsed.isComplete { return parsed.response }
        }
        return try parse(received).response
    }

    private static func parse(_ bytes: [UInt8]) throws -> (response: ReceivedResponse, isComplete: Bool) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw NoResponse(received: String(decoding: bytes.prefix(200), as: UTF8.self))
        }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let body = Array(bytes[end.upperBound...])
        if headers["transfer-encoding"] == "chunked" {
            let isComplete = body.suffix(5) == Array("0\r\n\r\n".utf8)
            return (
                ReceivedResponse(status: status, headers: headers, head: head, body: isComplete ? joined(body) : body),
                isComplete
            )
        }
        let isComplete = headers["content-length"].flatMap { Int($0) }.map { body.count >= $0 } ?? false
        return (ReceivedResponse(status: status, headers: headers, head: head, body: body), isComplete)
    }

    /// The data of all chunks.
    private static func joined(_ body: [UInt8]) -> [UInt8] {
        var data: [UInt8] = []
        var rest = body[...]
        while let line = rest.firstRange(of: [13, 10]),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), size > 0
        {
            data += rest[line.upperBound...].prefix(size)
            rest = rest[line.upperBound...].dropFirst(size + 2)
        }
        return data
    }
}

/// A connection that asks nothing.
package final class IdleConnection {
    private let descriptor: Int32

    /// Connects.
    package init(port: Int) throws {
        descriptor = try LoopbackClient.connected(to: port)
    }

    /// Connects and waits for the response to a first request, by which the server has surely accepted the connection.
    ///
    /// It waits on a thread of its own: a blocked one of the pool would be missing to the server.
    package static func served(port: Int) async throws -> IdleConnection {
        let connection = try IdleConnection(port: port)
        let descriptor = connection.descriptor
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                askOnce(descriptor)
                done.resume()
            }
        }
        return connection
    }

    private static func askOnce(_ descriptor: Int32) {
        let request = Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        _ = request.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while received.firstRange(of: Array("ok\n".utf8)) == nil {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            received += buffer[..<count]
        }
    }

    deinit { close(descriptor) }

    /// True once the server has ended it.
    package var isClosed: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }
}

/// A client that reads its response on demand; used by one task.
package final class SlowReader {
    private let descriptor: Int32
    /// The last bytes it took.
    private var tail: [UInt8] = []
    /// Bytes it took.
    package private(set) var taken = 0
    /// True once the server has ended the connection and all that came before was taken.
    package private(set) var isOver = false

    /// Asks.
    ///
    /// - Parameter window: bytes that the system keeps for it; nil for as many as it likes.
    package init(_ request: RawRequest, port: Int, window: Int32? = nil) throws {
        descriptor = try LoopbackClient.connected(to: port, window: window)
        LoopbackClient.write(request, to: descriptor)
    }

    deinit { close(descriptor) }

    /// True after the last chunk of the response.
    package var isWhole: Bool { tail == Array("\r\n0\r\n\r\n".utf8) }

    /// Takes what is there, up to so many bytes, without waiting for any.
    package func take(upTo most: Int) {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = recv(descriptor, &buffer, most, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        isOver = count <= 0
        taken += max(count, 0)
        tail = Array((tail + buffer.prefix(max(count, 0))).suffix(7))
    }
}
