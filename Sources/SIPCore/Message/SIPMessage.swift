// SPDX-License-Identifier: Apache-2.0

/// One received SIP message: its exact bytes and an index of the positions of its parts.
///
/// Nothing is decoded or copied out; every range is a position in `bytes`. Made by `index(_:limits:)`.
/// A class, because a structure of 400 bytes would be copied 28 times a call.
public final class SIPMessage: Sendable {
    /// The message as it came, start line to the end of its body; bytes past Content-Length are cut (RFC 3261 §18.3).
    public let bytes: [UInt8]
    public let startLine: StartLine
    /// The first header fields in the order received: inside of the message, so that it and its index are one allocation.
    private let firstFields: FieldList.First
    /// Those behind them.
    private let furtherFields: [HeaderField]
    let fieldCount: Int
    /// First byte after the empty line.
    public let bodyStart: Int
    let landmarks: HeaderIndex

    init(bytes: consuming [UInt8], startLine: StartLine, fields: consuming FieldList, bodyStart: Int) {
        self.bytes = bytes
        self.startLine = startLine
        firstFields = fields.first
        furtherFields = fields.further
        fieldCount = fields.count
        self.bodyStart = bodyStart
        landmarks = fields.landmarks
    }

    /// The first line, taken apart (RFC 3261 §7.1, §7.2).
    public enum StartLine: Hashable, Sendable {
        /// A request: its method, the extent of the method's token and of the Request-URI.
        case request(SIPMethod, token: Range<Int>, uri: Range<Int>)
        /// A response: status 100–699.
        case response(status: Int)
    }

    /// The header fields as they are found.
    struct FieldList {
        /// As many as keep a message below a kilobyte, which the allocator gives without a search.
        typealias First = InlineArray<24, HeaderField>

        private static let empty = First(repeating: .none)

        fileprivate var first = Self.empty
        fileprivate var further: [HeaderField] = []
        private(set) var count = 0
        private(set) var landmarks = HeaderIndex()

        @inline(__always)
        init() {}

        @inline(__always)
        mutating func append(_ field: HeaderField, of bytes: borrowing Span<UInt8>) {
            if count < first.count { first[count] = field } else { further.append(field) }
            landmarks.add(field, at: count, of: bytes)
            count += 1
        }
    }

    /// Where one header field lies (RFC 3261 §7.3.1).
    public struct HeaderField: Hashable, Sendable {
        public let name: HeaderName
        private let line: ByteRange
        private let inner: ByteRange
        private let nameEndPosition: UInt32

        /// A place without a field.
        static let none = HeaderField(name: .other, start: 0, nameEnd: 0, value: 0..<0, end: 0)

        init(name: HeaderName, start: Int, nameEnd: Int, value: Range<Int>, end: Int) {
            self.name = name
            line = ByteRange(start..<end)
            inner = ByteRange(value)
            nameEndPosition = UInt32(truncatingIfNeeded: nameEnd)
        }

        /// First byte of the line.
        public var start: Int { line.range.lowerBound }
        /// First byte after the name (which may be followed by white space before the colon).
        public var nameEnd: Int { Int(nameEndPosition) }
        /// The value without the white space around it; folds are still in it.
        public var value: Range<Int> { inner.range }
        /// First byte of the next line.
        public var end: Int { line.range.upperBound }
    }
}

extension SIPMessage {
    /// Bytes of memory that grow with what was received: the message and its list of fields.
    var heldBytes: Int { bytes.count + fieldCount * MemoryLayout<HeaderField>.stride }

    /// The method of a request, nil for a response.
    public var method: SIPMethod? {
        guard case .request(let method, _, _) = startLine else { return nil }
        return method
    }

    /// The status of a response, nil for a request.
    public var status: Int? {
        guard case .response(let status) = startLine else { return nil }
        return status
    }

    /// The extent of the Request-URI; empty for a response.
    public var requestURI: Range<Int> {
        guard case .request(_, _, let uri) = startLine else { return 0..<0 }
        return uri
    }

    /// The first field of that name.
    public func first(_ name: HeaderName) -> HeaderField? {
        guard let position = landmarks.position(of: name) else { return nil }
        return field(at: position)
    }

    /// The field at a position in the order received.
    @inline(__always)
    func field(at position: Int) -> HeaderField {
        precondition(position < fieldCount, "there are fewer header fields")
        return position < firstFields.count ? firstFields[position] : furtherFields[position - firstFields.count]
    }

    /// Position of the first field of that name in the list of fields; nil where there is none.
    func position(of name: HeaderName) -> Int? { landmarks.position(of: name) }

    /// True when a field of that name is there.
    public func has(_ name: HeaderName) -> Bool { landmarks.position(of: name) != nil }

    /// True when several fields of that name are there.
    public func repeats(_ name: HeaderName) -> Bool { landmarks.repeats(name) }

    /// The topmost Via and its field; nil when there is none that can be read.
    public var topVia: (value: ViaValue, field: HeaderField)? {
        guard let value = landmarks.topVia, let field = first(.via) else { return nil }
        return (value, field)
    }

    /// True when another Via follows the topmost one, by which a response can go on (RFC 3261 §16.7 step 3).
    public var hasSecondVia: Bool { repeats(.via) || landmarks.topVia != nil && landmarks.nextVia != nil }

    /// True for a 2xx.
    public var isSuccess: Bool { status.map { (200..<300).contains($0) } ?? false }

    /// The parts of From; nil where it is missing.
    public var from: NameAddressExtent? { landmarks.from }

    /// The parts of To; nil where it is missing.
    public var to: NameAddressExtent? { landmarks.to }

    /// CSeq taken apart: its number and the extent of its method; nil when malformed (RFC 3261 §20.16).
    public var sequence: (number: Int, method: Range<Int>)? {
        landmarks.sequence.map { (Int($0.number), $0.method.range) }
    }

    /// The bytes of a range, shared with the message.
    public subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The tag of From, nil where there is none (RFC 3261 §19.3).
    public var fromTag: Range<Int>? { landmarks.fromTag?.range }

    /// The tag of To, nil where there is none (RFC 3261 §19.3).
    public var toTag: Range<Int>? { landmarks.toTag?.range }

    /// True for a request inside a dialog: its To has a tag (RFC 3261 §12.2).
    public var isInDialog: Bool { landmarks.toTag != nil }
}
