// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Messages in a byte stream, RFC 3261 §7.5, §18.3 and §20.14")
struct StreamFramerTests {
    private static func message(_ length: String, body: String = "") -> String {
        "INFO sip:a@b SIP/2.0\r\n\(length)Via: SIP/2.0/TCP c\r\n\r\n\(body)"
    }

    /// Everything a stream holds, given in pieces of a size.
    private func frames(_ stream: String, pieces: Int = .max, largest: Int = 65_535) -> [StreamFrame] {
        var framer = StreamFramer(largestMessage: largest)
        var frames: [StreamFrame] = []
        var rest = Array(stream.utf8)[...]
        while !rest.isEmpty {
            framer.append(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            while let frame = framer.next() { frames.append(frame) }
        }
        return frames
    }

    private func bytes(_ text: String) -> StreamFrame { .message(Array(text.utf8)[...]) }

    static let lengths = [
        "Content-Length: 4\r\n", "content-length:4\r\n", "CONTENT-LENGTH  :  4  \r\n", "l: 4\r\n", "L :4\r\n",
        "Content-Length:\r\n  4\r\n", "Content-Length: 4\n", "Content-Length: 0004\r\n",
        "Content-Length: 4\r\nl: 4\r\n", "Subject: Content-Length: 9\r\nContent-Length: 4\r\n",
    ]

    @Test(arguments: lengths)
    func `Content-Length says where the message ends, however it is written`(line: String) {
        let one = Self.message(line, body: "abcd")
        #expect(frames(one + one) == [bytes(one), bytes(one)])
    }

    static let broken: [(line: String, fault: StreamFault)] = [
        ("", .noContentLength),  // §20.14: MUST be used on streams
        ("X-Content-Length: 4\r\n", .noContentLength),
        ("Content-Length: \r\n", .badContentLength), ("Content-Length: four\r\n", .badContentLength),
        ("Content-Length: -1\r\n", .badContentLength), ("Content-Length: +4\r\n", .badContentLength),
        ("Content-Length: 4 4\r\n", .badContentLength), ("Content-Length: 99999999999999999999\r\n", .badContentLength),
        ("Content-Length: 4\r\nContent-Length: 5\r\n", .badContentLength),
        ("Content-Length: 4\r\nl: 0\r\n", .badContentLength), ("Content-Length: 66000\r\n", .tooLong),
    ]

    @Test(arguments: broken)
    func `what cannot be framed ends the stream, and its header part is handed out for a rejection`(
        row: (line: String, fault: StreamFault)
    ) {
        let one = Self.message(row.line)
        #expect(frames(one + "more") == [.broken(row.fault, Array(one.utf8)[...])])
    }

    @Test func `a double line end asks for a sign of life, RFC 5626 §3.5.1`() {
        let one = Self.message("l: 0\r\n")
        #expect(frames("\r\n\r\n" + one + "\r\n\r\n\r\n\r\n") == [.keepAlive, bytes(one), .keepAlive, .keepAlive])
    }

    @Test func `single line ends between messages mean nothing, §7.5`() {
        let one = Self.message("l: 0\r\n")
        #expect(frames("\r\n" + one + "\r\n" + one + "\n") == [bytes(one), bytes(one)])
    }

    @Test(arguments: [1, 2, 3, 5, 7, 16, 64, 1000])
    func `however the stream is cut, the frames are the same`(size: Int) {
        let parts = [
            "\r\n\r\n", Self.message("l: 3\r\n", body: "\r\n\r"), Self.message("Content-Length: 0\r\n"), "\r\n",
            Self.message("Content-Length:\r\n 10\r\n", body: "0123456789"), "\r\n\r\n", Self.message("l: x\r\n"),
        ]
        let stream = parts.joined()
        #expect(frames(stream, pieces: size) == frames(stream))
        #expect(frames(stream).count == 6)
    }

    @Test func `a header part without end is given up at the largest message`() {
        let endless = "INFO sip:a@b SIP/2.0\r\n" + String(repeating: "a: b\r\n", count: 1000)
        guard case .broken(.tooLong, let bytes)? = frames(endless, pieces: 10, largest: 2000).first else {
            Issue.record("not broken")
            return
        }
        #expect(bytes.count <= 2010)
    }

    @Test func `a header part beyond the largest message is too long, whatever it says of its length`() {
        let long = Self.message("Content-Length: x\r\nSubject: \(String(repeating: "a", count: 3000))\r\n")
        for pieces in [1, 13, 5000] {
            guard case .broken(let fault, _)? = frames(long, pieces: pieces, largest: 2000).first else {
                Issue.record("not broken")
                continue
            }
            #expect(fault == .tooLong)
        }
    }

    @Test func `nothing is read behind a broken frame`() {
        var framer = StreamFramer(largestMessage: 1000)
        framer.append(Array(Self.message("").utf8))
        #expect(framer.next() != nil)
        for _ in 0..<1000 { framer.append([UInt8](repeating: 65, count: 1000)) }
        #expect(framer.next() == nil)
        #expect(!framer.isInsideMessage)
    }

    @Test func `it knows whether a message has begun`() {
        var framer = StreamFramer(largestMessage: 1000)
        #expect(!framer.isInsideMessage)
        framer.append([13, 10])
        #expect(framer.next() == nil)
        #expect(!framer.isInsideMessage, "RFC 3261 §7.5: a line end before a message is none of it")
        framer.append(Array("INFO".utf8))
        #expect(framer.next() == nil)
        #expect(framer.isInsideMessage)
    }
}
