// SPDX-License-Identifier: Apache-2.0

/// Bounds that apply before any grammar runs, so that hostile sizes cost nothing.
///
/// A header field has no bound of its own: one Identity field can be larger than all others together (RFC 8224 §4).
public struct SIPLimits: Hashable, Sendable {
    /// Largest message in bytes; 65,535 is the largest UDP payload (RFC 3261 §18.1.1).
    public var messageBytes: Int
    /// Most header fields in a request; a response is never refused for their number.
    public var headerFields: Int

    public init(messageBytes: Int = 65_535, headerFields: Int = 200) {
        self.messageBytes = messageBytes
        self.headerFields = headerFields
    }

    /// No bounds, for text that the gateway made itself.
    public static let none = SIPLimits(messageBytes: .max, headerFields: .max)
}

/// The reason why a message cannot be indexed.
public enum SIPIndexError: String, Error, Hashable, Sendable, CaseIterable {
    /// Nothing but CR and LF: a keep-alive (RFC 5626 §3.5.1), to be ignored.
    case keepAlive = "keep_alive"
    /// The first line is neither a request line nor a status line.
    case notSIP = "not_sip"
    /// Larger than `SIPLimits` allows.
    case overLimit = "over_limit"
    /// A request with more header fields than `SIPLimits` allows.
    case tooManyFields = "too_many_fields"
    /// No empty line ends the header fields.
    case headersUnfinished = "headers_unfinished"
    /// A line in the header section has no colon, begins with white space, or holds a CR that ends no line.
    case badHeaderLine = "bad_header_line"
    /// A NUL byte in the start line, or in a header field without the backslash that makes it legal.
    case nulByte = "nul_byte"
}

extension SIPMessage {
    /// Finds start line, header fields and body in one pass over the bytes (RFC 3261 §7).
    ///
    /// Checks framing alone. `RequestValidity` checks the rest, so that a bad request still gets a response. Lines end with
    /// CRLF; a bare LF is accepted on input. A bare CR is not: some receivers end a line there, so it could hide a header
    /// field from the gateway.
    public static func index(
        _ datagram: consuming [UInt8], limits: SIPLimits = SIPLimits()
    ) throws(SIPIndexError) -> SIPMessage {
        var bytes = consume datagram
        guard bytes.count <= min(limits.messageBytes, Int(UInt32.max)) else { throw .overLimit }
        // RFC 3261 §7.5: CRLF before the start line is ignored.
        var position = 0
        while position < bytes.count, bytes[position] == 13 || bytes[position] == 10 { position += 1 }
        guard position < bytes.count else { throw .keepAlive }
        if position > 0 { bytes.removeFirst(position) }
        let received = consume bytes
        let text = received.span
        var scanner = LineScanner()
        let first = try scanner.nextLine(text)
        if received.contains(0, in: first) { throw .nulByte }
        guard let startLine = StartLine.read(text, first) else { throw .notSIP }
        var fields = SIPMessage.FieldList()
        try scanner.readFields(text, atMost: startLine.isResponse ? .max : limits.headerFields, into: &fields)
        // RFC 3261 §18.3: bytes past Content-Length are dropped, with their memory. A body too short is left to validation.
        let rest = received.count - scanner.position
        let length = min(fields.landmarks.contentLength ?? rest, rest)
        return SIPMessage(
            bytes: length < rest ? Array(received[..<(scanner.position + length)]) : received, startLine: startLine,
            fields: fields, bodyStart: scanner.position)
    }

    /// Indexes a datagram, whose bytes are copied once.
    public static func index(_ datagram: Span<UInt8>, limits: SIPLimits) throws(SIPIndexError) -> SIPMessage {
        try index(datagram.withUnsafeBufferPointer { [UInt8]($0) }, limits: limits)
    }

    /// The value of Content-Length; nil when absent or no number.
    public var contentLength: Int? { landmarks.contentLength }
}

/// Cuts the header section into lines and fields.
private struct LineScanner {
    var position = 0

    /// The next line without its end; moves behind it.
    @inline(never)
    mutating func nextLine(_ bytes: borrowing Span<UInt8>) throws(SIPIndexError) -> Range<Int> {
        let start = position
        return start..<(try passLine(bytes, from: start))
    }

    /// Moves behind the line that began at `start` and ends at or behind the position; where it ends, its end left out.
    @inline(__always)
    private mutating func passLine(_ bytes: borrowing Span<UInt8>, from start: Int) throws(SIPIndexError) -> Int {
        let last = bytes.count
        while true {
            position = bytes.position(in: position..<last) { $0.marks(below: 14) }
            guard position < last else { throw .headersUnfinished }
            let byte = bytes[position]
            position &+= 1
            if byte == 13, position < last {
                guard bytes[position] == 10 else { throw .badHeaderLine }
                position &+= 1
                return position &- 2
            }
            if byte == 10 { return position &- 1 }
            // RFC 3261 §25.1: a backslash in a quoted string may take even a NUL with it.
            if byte == 0, position - 2 < start || bytes[position - 2] != UInt8(ascii: "\\") { throw .nulByte }
        }
    }

    /// Finds the header fields with their folded lines, up to the empty line, which is consumed.
    mutating func readFields(
        _ bytes: borrowing Span<UInt8>, atMost limit: Int, into fields: inout SIPMessage.FieldList
    ) throws(SIPIndexError) {
        while true {
            let start = position
            guard let (nameEnd, colon) = try nextName(bytes) else { return }
            position = colon &+ 1
            var end = try passLine(bytes, from: start)
            // RFC 3261 §7.3.1: a line that begins with SP or HTAB continues the field.
            while position < bytes.count, isBlank(bytes[position]) {
                end = try nextLine(bytes).upperBound
            }
            guard fields.count < limit else { throw .tooManyFields }
            let value = LWS.trimmed(bytes, (colon &+ 1)..<end)
            let name = HeaderName.recognise(bytes.bytes, start..<nameEnd)
            let field = SIPMessage.HeaderField(name: name, start: start, nameEnd: nameEnd, value: value, end: position)
            fields.append(field, of: bytes)
        }
    }

    /// Where the name of the next header field ends, and its colon; nil at the empty line, which is consumed.
    @inline(__always)
    private mutating func nextName(
        _ bytes: borrowing Span<UInt8>
    ) throws(SIPIndexError) -> (end: Int, colon: Int)? {
        let start = position
        let last = bytes.count
        let end = bytes.position(in: start..<last) { $0.marks(below: 33) | $0.marks(UInt8(ascii: ":")) }
        if end > start, end < last, bytes[end] == UInt8(ascii: ":") { return (end, end) }
        // A fault of the whole line is reported before a fault of its name.
        let line = try nextLine(bytes)
        guard !line.isEmpty else { return nil }
        let nameEnd = bytes.position(in: line) { $0.marks(UInt8(ascii: ":")) | $0.marks(32) | $0.marks(9) }
        var colon = nameEnd
        while colon < line.upperBound, isBlank(bytes[colon]) { colon += 1 }
        guard nameEnd > start, colon < line.upperBound, bytes[colon] == UInt8(ascii: ":") else {
            throw .badHeaderLine
        }
        return (nameEnd, colon)
    }

    @inline(__always)
    private func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}

extension SIPMessage.StartLine {
    /// True for a status line.
    var isResponse: Bool {
        if case .response = self { true } else { false }
    }

    /// Takes a request line or a status line apart; nil when it is neither (RFC 3261 §25.1).
    ///
    /// The version counts without case (§7.1); blanks behind it are left to `RequestValidity`.
    static func read(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Self? {
        response(bytes, line) ?? request(bytes, LWS.trimmedEnd(bytes, line))
    }

    private static func response(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Self? {
        guard line.count >= 11, bytes.matches(line.lowerBound..<(line.lowerBound + 8), "sip/2.0 "),
            let status = DecimalNumber.read(bytes, (line.lowerBound + 8)..<(line.lowerBound + 11)),
            (100...699).contains(status), line.count == 11 || bytes[line.lowerBound + 11] == 32
        else { return nil }
        return .response(status: status)
    }

    private static func request(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Self? {
        guard let methodEnd = bytes.firstIndex(of: 32, in: line), methodEnd > line.lowerBound else { return nil }
        var uriEnd = line.upperBound - 1
        while bytes[uriEnd] != 32 { uriEnd -= 1 }
        guard uriEnd > methodEnd + 1, line.upperBound - uriEnd > 4,
            bytes.matches((uriEnd + 1)..<(uriEnd + 5), "sip/")
        else { return nil }
        let token = line.lowerBound..<methodEnd
        let method = SIPMethod.recognise(bytes.extracting(token))
        if method == .other { for place in token where !Token.contains(bytes[place]) { return nil } }
        return .request(method, token: token, uri: (methodEnd + 1)..<uriEnd)
    }
}
