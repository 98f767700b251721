// SPDX-License-Identifier: Apache-2.0

/// A request with a malformed header line: no colon, no name, a blank in the name, a bare CR or a NUL (RFC 3261 §25.1).
package enum MalformedRequest {
    /// The parts that a response to such a request repeats: its start line, Via, From, To, Call-ID and CSeq (RFC 3261
    /// §8.2.6.2).
    ///
    /// - Returns: nil where one of those fields is malformed itself or missing, for an ACK, and for a response.
    package static func rejectable(_ bytes: Span<UInt8>, limits: SIPLimits) -> SIPMessage? {
        guard bytes.count <= limits.messageBytes else { return nil }
        var start = 0
        while start < bytes.count, bytes[start] == 13 || bytes[start] == 10 { start += 1 }
        var position = lineEnd(bytes, from: start)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        out.append(start..<position, of: bytes)
        while position < bytes.count, !isEmpty(bytes, position) {
            let field = position..<fieldEnd(bytes, from: position)
            position = field.upperBound
            guard let name = name(bytes, field) else { continue }
            switch HeaderName.recognise(bytes, name) {
            case .via, .from, .to, .callID, .cseq:
                guard isSound(bytes, field) else { return nil }
                out.append(field, of: bytes)
            default: break
            }
        }
        guard position < bytes.count else { return nil }
        out.append("Content-Length: 0\r\n\r\n")
        guard let request = try? SIPMessage.index(out, limits: limits), let method = request.method, method != .ack,
            RequestValidity.allowsResponse(request)
        else { return nil }
        return request
    }

    /// Behind the line feed that ends a line, or behind all bytes.
    private static func lineEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        min(bytes.position(in: start..<bytes.count) { $0.marks(10) } + 1, bytes.count)
    }

    /// Behind the last folded line of a field (RFC 3261 §7.3.1).
    private static func fieldEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var end = lineEnd(bytes, from: start)
        while end < bytes.count, bytes[end] == 32 || bytes[end] == 9 { end = lineEnd(bytes, from: end) }
        return end
    }

    private static func isEmpty(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
        bytes[start] == 10 || bytes[start] == 13 && start + 1 < bytes.count && bytes[start + 1] == 10
    }

    /// The token in front of a field's colon; nil where there is none.
    private static func name(_ bytes: Span<UInt8>, _ field: Range<Int>) -> Range<Int>? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: field) else { return nil }
        let name = LWS.trimmedEnd(bytes, field.lowerBound..<colon)
        return !name.isEmpty && Token.isWhole(bytes, name) ? name : nil
    }

    /// No NUL, and no CR but in front of a line feed.
    private static func isSound(_ bytes: Span<UInt8>, _ field: Range<Int>) -> Bool {
        var position = field.lowerBound
        while true {
            position = bytes.position(in: position..<field.upperBound) { $0.marks(0) | $0.marks(13) }
            guard position < field.upperBound else { return true }
            guard bytes[position] == 13, position + 1 < field.upperBound, bytes[position + 1] == 10 else {
                return false
            }
            position += 1
        }
    }
}
