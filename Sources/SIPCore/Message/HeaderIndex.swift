// SPDX-License-Identifier: Apache-2.0

/// Positions of the header fields that nearly every step of the walk reads, found once when a message is indexed.
///
/// Checks nothing; `RequestValidity` does. No allocation.
struct HeaderIndex: Sendable {
    /// Position of the first field of each name in the list of fields, plus one; 0 where there is none.
    private var firsts = InlineArray<32, UInt16>(repeating: 0)
    /// One bit for each name that occurs more than once.
    private var repeated: UInt32 = 0
    /// The topmost Via; nil when it is missing or cannot be read.
    private(set) var topVia: ViaValue?
    /// Where the second value of its field begins; nil when there is none.
    private(set) var nextVia: UInt32?
    /// The parts of From and To; nil where the field is missing.
    private(set) var from: NameAddressExtent?
    private(set) var to: NameAddressExtent?
    /// The tags of From and To (RFC 3261 §19.3).
    private(set) var fromTag: ByteRange?
    private(set) var toTag: ByteRange?
    /// CSeq taken apart; nil when malformed.
    private(set) var sequence: (number: UInt32, method: ByteRange)?
    /// The number of Content-Length; nil when missing or malformed.
    private(set) var contentLength: Int?

    /// Takes in the next field of the list.
    @inline(__always)
    mutating func add(_ field: SIPMessage.HeaderField, at position: Int, of bytes: Span<UInt8>) {
        let name = Int(field.name.rawValue)
        guard firsts[name] == 0 else {
            repeated |= 1 &<< UInt32(truncatingIfNeeded: name)
            return
        }
        firsts[name] = UInt16(truncatingIfNeeded: min(position &+ 1, Int(UInt16.max)))
        switch field.name {
        case .via, .from, .to, .cseq, .contentLength: takeApart(field.name, bytes, field.value)
        default: break
        }
    }

    /// Takes the first field of a name apart.
    @inline(never)
    private mutating func takeApart(_ name: HeaderName, _ bytes: Span<UInt8>, _ value: Range<Int>) {
        switch name {
        case .via:
            var start = value.lowerBound
            topVia = HeaderValues.next(in: bytes, from: &start, to: value.upperBound).flatMap { ViaValue(bytes, $0) }
            let next = HeaderValues.next(in: bytes, from: &start, to: value.upperBound)
            nextVia = next.map { UInt32(truncatingIfNeeded: $0.lowerBound) }
        case .from:
            let extent = NameAddressExtent.scan(bytes, value)
            (from, fromTag) = (extent, Self.tag(bytes, extent))
        case .to:
            let extent = NameAddressExtent.scan(bytes, value)
            (to, toTag) = (extent, Self.tag(bytes, extent))
        case .cseq: sequence = Self.sequence(bytes, value)
        default: contentLength = DecimalNumber.read(bytes, value)
        }
    }

    /// Position of the first field of a name in the list of fields; nil where there is none.
    func position(of name: HeaderName) -> Int? {
        let first = firsts[Int(name.rawValue)]
        return first == 0 ? nil : Int(first) - 1
    }

    /// True where a name occurs more than once.
    func repeats(_ name: HeaderName) -> Bool { repeated & 1 << UInt32(name.rawValue) != 0 }

    /// The tag of From or To.
    private static func tag(_ bytes: Span<UInt8>, _ extent: NameAddressExtent) -> ByteRange? {
        HeaderParameters.find("tag", in: bytes, extent.parameters).map(ByteRange.init)
    }

    /// CSeq taken apart; nil when malformed.
    private static func sequence(_ bytes: Span<UInt8>, _ value: Range<Int>) -> (number: UInt32, method: ByteRange)? {
        let blank = bytes.position(in: value) { $0.blankMarks }
        guard blank < value.upperBound, let number = DecimalNumber.read(bytes, value.lowerBound..<blank) else {
            return nil
        }
        let method = LWS.trimmed(bytes, blank..<value.upperBound)
        return method.isEmpty ? nil : (UInt32(number), ByteRange(method))
    }
}
