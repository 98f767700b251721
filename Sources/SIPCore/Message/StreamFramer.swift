// SPDX-License-Identifier: Apache-2.0

/// What a byte stream holds next (RFC 3261 §7.5, §18.3; RFC 5626 §3.5.1).
package enum StreamFrame: Hashable, Sendable {
    /// One whole message.
    case message([UInt8])
    /// A double CRLF, to be answered with one.
    case keepAlive
    /// Nothing more can be told apart on this stream; the header part of what came last, to be answered if it can be.
    case broken(StreamFault, [UInt8])
}

/// Why a stream cannot be read on.
package enum StreamFault: String, Hashable, Sendable, CaseIterable {
    /// RFC 3261 §20.14: on a stream Content-Length must be there.
    case noContentLength = "no_content_length"
    /// It is no number, or stands there twice with two values.
    case badContentLength = "bad_content_length"
    case tooLong = "too_long"
}

/// Cuts a byte stream into SIP messages by Content-Length; pure.
///
/// Holds at most one unfinished message, never more than its limit. Bytes are looked at once however they trickle in.
package struct StreamFramer: Sendable {
    private let largestMessage: Int
    private var buffer: [UInt8] = []
    /// Where the unread bytes begin.
    private var start = 0
    /// Up to where the end of the header part was looked for.
    private var scanned = 0
    /// Length of the whole message, once its header part is read.
    private var length: Int?
    private var isBroken = false

    /// - Parameter largestMessage: bytes; a message above it breaks the stream.
    package init(largestMessage: Int) { self.largestMessage = largestMessage }

    /// True while a message has begun and is not complete; line ends before it are none of it (RFC 3261 §7.5).
    package var isInsideMessage: Bool { length != nil || buffer[start...].contains { $0 != 13 && $0 != 10 } }

    /// Adds what was received.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard !isBroken else { return }
        if start == buffer.count { clear() }
        buffer.append(contentsOf: bytes)
    }

    /// Takes the next frame; nil until more bytes come.
    package mutating func next() -> StreamFrame? {
        guard !isBroken else { return nil }
        if length == nil {
            if let frame = skipLineEnds() { return frame }
            guard let headerEnd = findHeaderEnd() else {
                return buffer.count - start > largestMessage ? breakOff(.tooLong, end: buffer.count) : nil
            }
            guard headerEnd - start <= largestMessage else { return breakOff(.tooLong, end: headerEnd) }
            switch contentLength(headerEnd) {
            case .success(let body) where body <= largestMessage - (headerEnd - start):
                length = headerEnd - start + body
            case .success: return breakOff(.tooLong, end: headerEnd)
            case .failure(let fault): return breakOff(fault, end: headerEnd)
            }
        }
        guard let whole = length, buffer.count - start >= whole else { return nil }
        let message = Array(buffer[start..<(start + whole)])
        consume(whole)
        return .message(message)
    }

    /// Line ends before a message are skipped (RFC 3261 §7.5); two in a row ask for a sign of life.
    private mutating func skipLineEnds() -> StreamFrame? {
        while start < buffer.count {
            guard buffer[start] == 13 || buffer[start] == 10 else { return nil }
            let rest = buffer[start...]
            if rest.starts(with: [13, 10, 13, 10]) {
                consume(4)
                return .keepAlive
            }
            // Half a double line end: wait for the other half, unless it turns out to be something else.
            if rest.count < 4, [13, 10, 13, 10].starts(with: rest) { return nil }
            consume(1)
        }
        return nil
    }

    /// The position behind the empty line; line ends may be bare line feeds.
    private mutating func findHeaderEnd() -> Int? {
        let (end, next) = Self.headerEnd(in: buffer.span, from: max(scanned, start))
        scanned = next
        return end
    }

    /// The position behind the empty line, or else where to look on when there is more.
    private static func headerEnd(in bytes: Span<UInt8>, from start: Int) -> (end: Int?, next: Int) {
        var position = start
        while true {
            position = bytes.position(in: position..<bytes.count) { $0.marks(10) }
            if position + 1 < bytes.count, bytes[position + 1] == 10 { return (position + 2, position) }
            // The next two bytes decide; look here again when they are there.
            guard position + 2 < bytes.count else { return (nil, position) }
            if bytes[position + 1] == 13, bytes[position + 2] == 10 { return (position + 3, position) }
            position += 1
        }
    }

    private mutating func consume(_ count: Int) {
        start += count
        scanned = start
        length = nil
        // Moving the rest down each time would cost time in the square of what came at once.
        if start > 65_536 || start == buffer.count {
            buffer.removeFirst(start)
            clear(keeping: true)
        }
    }

    private mutating func clear(keeping: Bool = false) {
        if !keeping { buffer.removeAll(keepingCapacity: true) }
        start = 0
        scanned = 0
    }

    private mutating func breakOff(_ fault: StreamFault, end: Int) -> StreamFrame {
        let header = Array(buffer[start..<min(end, start + largestMessage)])
        isBroken = true
        buffer = []
        start = 0
        return .broken(fault, header)
    }
}

extension StreamFault: Error {}

extension StreamFramer {
    /// Reads Content-Length, long or compact, in any case and folded, out of a header part.
    private func contentLength(_ headerEnd: Int) -> Result<Int, StreamFault> {
        let bytes = buffer.span
        var found: Int?
        var line = start
        while line < headerEnd {
            let end = lineEnd(from: line, headerEnd)
            // No other line is looked at any further.
            if bytes[line] | 0x20 == UInt8(ascii: "c") || bytes[line] | 0x20 == UInt8(ascii: "l"),
                let value = lengthValue(line..<end)
            {
                guard let number = Self.number(buffer[value]), found == nil || found == number else {
                    return .failure(.badContentLength)
                }
                found = number
            }
            line = end + 1
        }
        return found.map { .success($0) } ?? .failure(.noContentLength)
    }

    /// The line feed that ends a header line, continuation lines included (RFC 3261 §7.3.1).
    private func lineEnd(from position: Int, _ limit: Int) -> Int {
        let bytes = buffer.span
        var position = position
        while true {
            position = bytes.position(in: position..<limit) { $0.marks(10) }
            guard position + 1 < limit, bytes[position + 1] == 32 || bytes[position + 1] == 9 else { return position }
            position += 1
        }
    }

    /// The value of a line when it is Content-Length; nil for every other line.
    private func lengthValue(_ line: Range<Int>) -> Range<Int>? {
        guard let colon = buffer[line].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var nameEnd = colon
        while nameEnd > line.lowerBound, buffer[nameEnd - 1] == 32 || buffer[nameEnd - 1] == 9 { nameEnd -= 1 }
        let name = buffer[line.lowerBound..<nameEnd]
        guard name.equalsIgnoringCase("content-length") || name.equalsIgnoringCase("l") else { return nil }
        return (colon + 1)..<line.upperBound
    }

    /// Digits with white space around them; nil for anything else, and for what no memory could hold.
    private static func number(_ value: ArraySlice<UInt8>) -> Int? {
        let trimmed = value.drop { $0 <= 32 }
        let digits = trimmed.prefix { (48...57).contains($0) }
        guard !digits.isEmpty, digits.count <= 10, trimmed.dropFirst(digits.count).allSatisfy({ $0 <= 32 }) else {
            return nil
        }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}
