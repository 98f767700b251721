// SPDX-License-Identifier: Apache-2.0

/// Bounds on what is looked at before any grammar runs, so that hostile sizes cost nothing.
package struct SIPLimits: Hashable, Sendable {
    /// Largest message in bytes; 65,535 is the largest UDP payload (RFC 3261 §18.1.1).
    package var messageBytes: Int
    /// Most header fields in a message.
    package var headerFields: Int
    /// Longest header field, folds included, in bytes.
    package var headerBytes: Int

    package init(messageBytes: Int = 65_535, headerFields: Int = 200, headerBytes: Int = 16_384) {
        self.messageBytes = messageBytes
        self.headerFields = headerFields
        self.headerBytes = headerBytes
    }
}

/// Why bytes are no message that could be indexed; such a datagram is dropped and counted, never answered.
package enum SIPIndexError: String, Error, Hashable, Sendable, CaseIterable {
    /// Nothing but CR and LF: a keep-alive (RFC 5626 §3.5.1), to be ignored.
    case keepAlive = "keep_alive"
    /// The first line is neither a request line nor a status line.
    case notSIP = "not_sip"
    /// Larger than `SIPLimits` allows, or more or longer header fields.
    case overLimit = "over_limit"
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
    /// Accepts what framing allows and judges nothing more: `RequestValidity` does that, so that a bad request can still
    /// be answered. Lines end with CRLF; a bare LF is accepted on input. A bare CR is not: some receivers end a line
    /// there, so it could hide a header field from the gateway.
    package static func index(
        _ datagram: [UInt8], limits: SIPLimits = SIPLimits()
    ) throws(SIPIndexError) -> SIPMessage {
        guard datagram.count <= limits.messageBytes else { throw .overLimit }
        // RFC 3261 §7.5: CRLF before the start line is ignored.
        var position = 0
        while position < datagram.count, datagram[position] == 13 || datagram[position] == 10 { position += 1 }
        guard position < datagram.count else { throw .keepAlive }
        var bytes = datagram
        if position > 0 { bytes.removeFirst(position) }
        var scanner = LineScanner()
        let first = try scanner.nextLine(bytes.span, limit: limits.headerBytes)
        if bytes[first].contains(0) { throw .nulByte }
        guard let startLine = StartLine.read(bytes, first) else { throw .notSIP }
        var headers: [HeaderField] = []
        headers.reserveCapacity(32)
        while let field = try scanner.nextField(bytes.span, limit: limits.headerBytes) {
            guard headers.count < limits.headerFields else { throw .overLimit }
            headers.append(field)
        }
        let message = SIPMessage(bytes: bytes, startLine: startLine, headers: headers, bodyStart: scanner.position)
        return message.cutAtContentLength()
    }

    /// Drops what follows the body that Content-Length announces (RFC 3261 §18.3); a body too short is left to validation.
    private func cutAtContentLength() -> SIPMessage {
        guard let length = contentLength, bodyStart + length < bytes.count else { return self }
        return SIPMessage(self, endingAt: bodyStart + length)
    }

    /// The value of Content-Length; nil when absent or no number.
    package var contentLength: Int? {
        guard let field = first(.contentLength) else { return nil }
        return DecimalNumber.read(bytes, field.value)
    }
}

/// Cuts the header section into lines and fields.
private struct LineScanner {
    var position = 0

    /// The next line without its end; moves behind it.
    mutating func nextLine(_ bytes: borrowing Span<UInt8>, limit: Int) throws(SIPIndexError) -> Range<Int> {
        let start = position
        let last = start + min(limit, bytes.count - start)
        while true {
            position = bytes.position(in: position..<last) { $0.marks(below: 14) }
            guard position < last else { throw position < bytes.count ? .overLimit : .headersUnfinished }
            let byte = bytes[position]
            position += 1
            // RFC 3261 §25.1: a backslash in a quoted string may take even a NUL with it.
            if byte == 0, position - 2 < start || bytes[position - 2] != UInt8(ascii: "\\") { throw .nulByte }
            if byte == 10 { return start..<(position - 1) }
            guard byte == 13, position < last else { continue }
            guard bytes[position] == 10 else { throw .badHeaderLine }
            position += 1
            return start..<(position - 2)
        }
    }

    /// The next header field with its folded lines; nil at the empty line, which is consumed.
    mutating func nextField(
        _ bytes: borrowing Span<UInt8>, limit: Int
    ) throws(SIPIndexError) -> SIPMessage.HeaderField? {
        let line = try nextLine(bytes, limit: limit)
        guard !line.isEmpty else { return nil }
        var end = line.upperBound
        // RFC 3261 §7.3.1: a line that begins with SP or HTAB continues the field.
        while position < bytes.count, isBlank(bytes[position]) {
            end = try nextLine(bytes, limit: limit).upperBound
            if position - line.lowerBound > limit { throw .overLimit }
        }
        let nameEnd = bytes.position(in: line) { $0.marks(UInt8(ascii: ":")) | $0.marks(32) | $0.marks(9) }
        var colon = nameEnd
        while colon < line.upperBound, isBlank(bytes[colon]) { colon += 1 }
        guard nameEnd > line.lowerBound, colon < line.upperBound, bytes[colon] == UInt8(ascii: ":") else {
            throw .badHeaderLine
        }
        var valueStart = colon + 1
        while valueStart < end, Blank.contains(bytes[valueStart]) { valueStart += 1 }
        while end > valueStart, Blank.contains(bytes[end - 1]) { end -= 1 }
        return SIPMessage.HeaderField(
            name: .recognise(bytes, line.lowerBound..<nameEnd), start: line.lowerBound, nameEnd: nameEnd,
            value: valueStart..<end, end: position)
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}

extension SIPMessage.StartLine {
    /// Takes a request line or a status line apart; nil when it is neither (RFC 3261 §25.1).
    ///
    /// The version counts without case (§7.1); blanks behind it are left to `RequestValidity`.
    fileprivate static func read(_ bytes: [UInt8], _ line: Range<Int>) -> Self? {
        response(bytes, line) ?? request(bytes, Blank.trimmedEnd(bytes, line))
    }

    private static func response(_ bytes: [UInt8], _ line: Range<Int>) -> Self? {
        guard line.count >= 11, bytes[line].prefix(8).equalsIgnoringCase("SIP/2.0 "),
            let status = DecimalNumber.read(bytes, (line.lowerBound + 8)..<(line.lowerBound + 11)),
            (100...699).contains(status), line.count == 11 || bytes[line.lowerBound + 11] == 32
        else { return nil }
        return .response(status: status)
    }

    private static func request(_ bytes: [UInt8], _ line: Range<Int>) -> Self? {
        guard let methodEnd = bytes.firstIndex(of: 32, in: line), methodEnd > line.lowerBound,
            let uriEnd = bytes[line].lastIndex(of: 32), uriEnd > methodEnd + 1,
            bytes[(uriEnd + 1)..<line.upperBound].prefix(4).equalsIgnoringCase("SIP/")
        else { return nil }
        let token = line.lowerBound..<methodEnd
        guard bytes[token].allSatisfy(Token.contains) else { return nil }
        return .request(.recognise(bytes[token]), token: token, uri: (methodEnd + 1)..<uriEnd)
    }
}
