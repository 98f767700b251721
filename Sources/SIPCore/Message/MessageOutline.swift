// SPDX-License-Identifier: Apache-2.0

/// The facts of a message that a log line names, read without the index, which may have refused it.
public struct MessageOutline: Hashable, Sendable {
    /// The method of a request, and of a response that of its CSeq; empty where it cannot be read.
    public private(set) var method = 0..<0
    /// The status of a response; 0 for a request and for other text.
    public private(set) var status = 0
    /// Number of header fields.
    public private(set) var fields = 0
    /// The name of the longest header field; empty where it is no token.
    public private(set) var longestName = 0..<0
    /// Bytes of the longest header field, its folds and line ends included.
    public private(set) var longestField = 0

    /// Reads the header section up to the empty line, or as far as the bytes go.
    public init(_ bytes: Span<UInt8>) {
        let start = FieldLines.messageStart(bytes)
        let end = FieldLines.lineEnd(bytes, from: start)
        var line = start..<end
        while let last = line.last, bytes[last] == 13 || bytes[last] == 10 { line.removeLast() }
        switch SIPMessage.StartLine.read(bytes, line) {
        case .request(_, let token, _): method = token
        case .response(let status): self.status = status
        case nil: break
        }
        var (count, longest, sequence) = (0, 0..<0, 0..<0)
        _ = FieldLines.each(bytes, from: end) { field in
            count += 1
            if field.count > longest.count { longest = field }
            if let name = FieldLines.name(bytes, field), HeaderName.recognise(bytes.bytes, name) == .cseq {
                sequence = field
            }
            return true
        }
        (fields, longestField) = (count, longest.count)
        longestName = FieldLines.name(bytes, longest) ?? 0..<0
        if status != 0 { method = Self.lastWord(bytes, sequence) }
    }

    /// The method at the end of a CSeq field (RFC 3261 §20.16).
    private static func lastWord(_ bytes: Span<UInt8>, _ field: Range<Int>) -> Range<Int> {
        let text = LWS.trimmedEnd(bytes, field)
        var start = text.upperBound
        while start > text.lowerBound, Token.contains(bytes[start - 1]) { start -= 1 }
        return start..<text.upperBound
    }
}
