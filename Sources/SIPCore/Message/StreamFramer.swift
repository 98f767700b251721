// SPDX-License-Identifier: Apache-2.0

/// The next element of a byte stream (RFC 3261 §7.5, §18.3; RFC 5626 §3.5.1).
public enum StreamFrame: Hashable, Sendable {
    /// One whole message, a part of what was received at once.
    case message(ArraySlice<UInt8>)
    /// A double CRLF; the response is one CRLF.
    case keepAlive
    /// The stream has no further message boundary; holds the header part of its last message, for a response.
    case broken(StreamFault, ArraySlice<UInt8>)
}

/// The reason why a stream has no further message boundary.
public enum StreamFault: String, Hashable, Sendable, CaseIterable {
    /// RFC 3261 §20.14: on a stream Content-Length must be there.
    case noContentLength = "no_content_length"
    /// Content-Length is no number, or appears twice with different values.
    case badContentLength = "bad_content_length"
    case tooLong = "too_long"
}

/// Cuts a byte stream into SIP messages by Content-Length; pure.
///
/// Holds at most one unfinished message, never more than its limit. Bytes are looked at once however they trickle in, and
/// copied once: messages share the buffer they were received into.
public struct StreamFramer: Sendable {
    private let largestMessage: Int
    private var buffer: [UInt8] = []
    /// Where the unread bytes begin; what lies before may be shared with messages.
    private var start = 0
    private var header = HeaderEnd(from: 0)
    /// Length of the whole message, once its header part is read.
    private var length: Int?
    private var isBroken = false

    /// - Parameter largestMessage: bytes; a message above it breaks the stream.
    public init(largestMessage: Int) { self.largestMessage = largestMessage }

    /// True while a message has begun and is not complete; line ends before it are none of it (RFC 3261 §7.5).
    public var isInsideMessage: Bool { length != nil || buffer[start...].contains { $0 != 13 && $0 != 10 } }

    /// Adds what was received.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        guard !isBroken else { return }
        if start > 0 {
            // A new buffer: the old one belongs to the messages that were cut from it.
            var rest: [UInt8] = []
            rest.reserveCapacity(buffer.count - start + bytes.count)
            rest += buffer[start...]
            header.move(by: start)
            (buffer, start) = (rest, 0)
        }
        buffer.append(contentsOf: bytes)
    }

    /// Bytes of memory that the unfinished message takes.
    public var heldBytes: Int { buffer.capacity }

    /// Releases the bytes of messages that were taken; called when no frame is left.
    public mutating func release() {
        guard start > 0 else { return }
        header.move(by: start)
        buffer = Array(buffer[start...])
        start = 0
    }

    /// Takes the next frame; nil until more bytes come.
    public mutating func next() -> StreamFrame? {
        guard !isBroken else { return nil }
        if length == nil {
            if let frame = skipLineEnds() { return frame }
            // Nothing, or half a double line end whose other half may come.
            guard start < buffer.count, buffer[start] != 13, buffer[start] != 10 else { return nil }
            guard let headerEnd = findHeaderEnd() else {
                return buffer.count - start > largestMessage ? breakOff(.tooLong, end: buffer.count) : nil
            }
            guard headerEnd - start <= largestMessage else { return breakOff(.tooLong, end: headerEnd) }
            switch header.contentLength {
            case .success(let body) where body <= largestMessage - (headerEnd - start):
                length = headerEnd - start + body
            case .success: return breakOff(.tooLong, end: headerEnd)
            case .failure(let fault): return breakOff(fault, end: headerEnd)
            }
        }
        guard let whole = length, buffer.count - start >= whole else { return nil }
        let message = buffer[start..<(start + whole)]
        consume(whole)
        return .message(message)
    }

    private mutating func findHeaderEnd() -> Int? {
        var search = header
        let end = search.find(in: buffer.span)
        header = search
        return end
    }

    /// Skips line ends before a message (RFC 3261 §7.5), but the first half of two in a row, which ask for a sign of life.
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

    private mutating func consume(_ count: Int) {
        start += count
        header = HeaderEnd(from: start)
        length = nil
    }

    private mutating func breakOff(_ fault: StreamFault, end: Int) -> StreamFrame {
        let header = buffer[start..<min(end, start + largestMessage)]
        isBroken = true
        buffer = []
        start = 0
        return .broken(fault, header)
    }
}

extension StreamFault: Error {}

/// Searches for the end of a header part line by line, and collects Content-Length on the way.
///
/// Lines end with CRLF or a bare line feed.
private struct HeaderEnd: Sendable {
    /// Where the line begins whose end is looked for, and up to where it was.
    private var line: Int
    private var scanned: Int
    /// Where the field begins that the lines before it belong to, if it may be Content-Length; no other is looked at.
    private var field: Int?
    private var length: Int?
    private var isBad = false

    init(from start: Int) { (line, scanned) = (start, start) }

    /// Content-Length, once the end was found.
    var contentLength: Result<Int, StreamFault> {
        isBad ? .failure(.badContentLength) : length.map { .success($0) } ?? .failure(.noContentLength)
    }

    /// Adjusts the positions after so many bytes were removed in front.
    mutating func move(by distance: Int) {
        line -= distance
        scanned -= distance
        field = field.map { $0 - distance }
    }

    /// The position behind the empty line; nil while it has not come.
    mutating func find(in bytes: Span<UInt8>) -> Int? {
        while true {
            let feed = bytes.position(in: scanned..<bytes.count) { $0.marks(10) }
            guard feed < bytes.count else {
                scanned = feed
                return nil
            }
            let first = bytes[line]
            // RFC 3261 §7.3.1: a line that begins with SP or HTAB continues the field.
            if first != 32, first != 9 {
                if let field { read(bytes, field..<(line - 1)) }
                let letter = first | 0x20
                field = letter == UInt8(ascii: "c") || letter == UInt8(ascii: "l") ? line : nil
            }
            let isEmpty = feed == line || feed == line + 1 && first == 13
            (line, scanned) = (feed + 1, feed + 1)
            if isEmpty { return line }
        }
    }

    /// Reads a field that may be Content-Length, long or compact, in any case and folded.
    private mutating func read(_ bytes: Span<UInt8>, _ field: Range<Int>) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: field) else { return }
        var name = field.lowerBound..<colon
        while let last = name.last, bytes[last] == 32 || bytes[last] == 9 { name.removeLast() }
        guard bytes.matches(name, "content-length") || bytes.matches(name, "l") else { return }
        let number = Self.number(bytes, (colon + 1)..<field.upperBound)
        if number == nil || length != nil && length != number { isBad = true }
        length = number
    }

    /// Digits with white space around them; nil for anything else, and for what no memory could hold.
    private static func number(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Int? {
        var digits = value
        while let first = digits.first, bytes[first] <= 32 { digits.removeFirst() }
        while let last = digits.last, bytes[last] <= 32 { digits.removeLast() }
        guard (1...10).contains(digits.count) else { return nil }
        var number = 0
        for place in digits {
            let digit = bytes[place] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }
}
