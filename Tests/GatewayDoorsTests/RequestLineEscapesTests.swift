// SPDX-License-Identifier: Apache-2.0

import GatewayDoors
import NIOCore
import NIOEmbedded
import Testing

@Suite("Request lines with bytes that are not escaped")
struct RequestLineEscapesTests {
    /// The bytes behind the handler, of pieces that arrive one after the other.
    private func passed(_ pieces: [[UInt8]]) throws -> String {
        let channel = EmbeddedChannel(handler: RequestLineEscapes())
        var out: [UInt8] = []
        for piece in pieces {
            try channel.writeInbound(ByteBuffer(bytes: piece))
            while let buffer = try channel.readInbound(as: ByteBuffer.self) { out += Array(buffer.readableBytesView) }
        }
        return String(decoding: out, as: UTF8.self)
    }

    static let rows: [(received: String, passed: String)] = [
        ("GET /name/1 HTTP/1.1\r\nHost: ä\r\n\r\n", "GET /name/1 HTTP/1.1\r\nHost: ä\r\n\r\n"),
        ("GET /name/1?name=Zahnärzte HTTP/1.1\r\n\r\n", "GET /name/1?name=Zahn%C3%A4rzte HTTP/1.1\r\n\r\n"),
        ("GET /a\tb\u{1}\u{7F} HTTP/1.1\r\n\r\n", "GET /a%09b%01%7F HTTP/1.1\r\n\r\n"),
        // The next request of the connection, also behind empty lines and with bare line feeds.
        ("GET /ä HTTP/1.1\r\n\r\n\r\nGET /ö HTTP/1.1\n\n", "GET /%C3%A4 HTTP/1.1\r\n\r\n\r\nGET /%C3%B6 HTTP/1.1\n\n"),
        // A body keeps its size, and nothing behind it is read as a request line.
        (
            "GET /ä HTTP/1.1\r\ncontent-Length: 2\r\n\r\näGET /ö HTTP/1.1\r\n\r\n",
            "GET /%C3%A4 HTTP/1.1\r\ncontent-Length: 2\r\n\r\näGET /ö HTTP/1.1\r\n\r\n"
        ),
        (
            "GET / HTTP/1.1\r\nX: y\r\nTRANSFER-Encoding: chunked\r\n\r\n2\r\nä\r\n",
            "GET / HTTP/1.1\r\nX: y\r\nTRANSFER-Encoding: chunked\r\n\r\n2\r\nä\r\n"
        ),
    ]

    @Test(arguments: rows) func `bytes of the request line alone are escaped`(received: String, passed: String) throws {
        let bytes = Array(received.utf8)
        #expect(try self.passed([bytes]) == passed)
        #expect(try self.passed(bytes.map { [$0] }) == passed)
        for cut in bytes.indices { #expect(try self.passed([Array(bytes[..<cut]), Array(bytes[cut...])]) == passed) }
    }
}
