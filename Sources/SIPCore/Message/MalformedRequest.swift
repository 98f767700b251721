// SPDX-License-Identifier: Apache-2.0

/// A request that cannot be indexed: a malformed header line, too many fields or bytes, or no end of its header section
/// (RFC 3261 §25.1).
public enum MalformedRequest {
    /// The parts that a response to such a request repeats: its start line, Via, From, To, Call-ID and CSeq (RFC 3261
    /// §8.2.6.2).
    ///
    /// - Returns: nil where one of those fields is malformed itself, cut or missing, for an ACK, and for a response.
    public static func rejectable(_ bytes: Span<UInt8>) -> SIPMessage? {
        let start = FieldLines.messageStart(bytes)
        let firstEnd = FieldLines.lineEnd(bytes, from: start)
        guard ends(bytes, start..<firstEnd) else { return nil }
        var out: [UInt8] = []
        out.reserveCapacity(512)
        out.append(start..<firstEnd, of: bytes)
        var isSoundSoFar = true
        _ = FieldLines.each(bytes, from: firstEnd) { field in
            guard let name = FieldLines.name(bytes, field) else { return true }
            switch HeaderName.recognise(bytes.bytes, name) {
            case .via, .from, .to, .callID, .cseq:
                isSoundSoFar = isSound(bytes, field)
                if isSoundSoFar { out.append(field, of: bytes) }
            default: break
            }
            return isSoundSoFar
        }
        guard isSoundSoFar else { return nil }
        out.append("Content-Length: 0\r\n\r\n")
        guard let request = try? SIPMessage.index(out, limits: .none), let method = request.method, method != .ack,
            RequestValidity.allowsResponse(request)
        else { return nil }
        return request
    }

    /// Whether a line has its end; without it, the line may have been cut.
    private static func ends(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        !line.isEmpty && bytes[line.upperBound - 1] == 10
    }

    /// No NUL, no CR but in front of a line feed, and a line end.
    private static func isSound(_ bytes: Span<UInt8>, _ field: Range<Int>) -> Bool {
        guard ends(bytes, field) else { return false }
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
