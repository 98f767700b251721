// SPDX-License-Identifier: Apache-2.0

/// Reads the elements of a DER encoding in order: tags of one byte, definite lengths in their shortest form (X.690 §10.1).
///
/// Positions stay within the bytes. A damaged encoding gives nil and never an element.
struct DERReader {
    /// One element: its tag, and the range of its contents.
    struct Element {
        var tag: UInt8
        var contents: Range<Int>
    }

    static let integer: UInt8 = 0x02
    static let utf8Text: UInt8 = 0x0C
    static let ia5Text: UInt8 = 0x16
    static let sequence: UInt8 = 0x30

    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// A reader of a part of the bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// A reader of all bytes.
    init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

    /// True behind the last element.
    var isAtEnd: Bool { position == end }

    /// The tag of the next element, nil at the end.
    var nextTag: UInt8? { position < end ? bytes[position] : nil }

    /// The next element; nil at the end and for a damaged one.
    mutating func next() -> Element? {
        guard end - position >= 2, bytes[position] & 0x1F != 0x1F else { return nil }
        let tag = bytes[position]
        var start = position + 2
        var length = Int(bytes[position + 1])
        if length > 0x7F {
            let count = length & 0x7F
            guard (1...3).contains(count), end - start >= count, bytes[start] != 0 else { return nil }
            length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
            guard length > 0x7F else { return nil }
            start += count
        }
        guard length <= end - start else { return nil }
        position = start + length
        return Element(tag: tag, contents: start..<position)
    }

    /// A reader of the contents of the next element, which must have the tag.
    mutating func nested(_ tag: UInt8) -> DERReader? {
        guard nextTag == tag, let element = next() else { return nil }
        return DERReader(bytes, element.contents)
    }

    /// The text of the next element, which must have the tag and 1 to `most` bytes.
    mutating func text(_ tag: UInt8, most: Int) -> String? {
        guard nextTag == tag, let element = next(), (1...most).contains(element.contents.count) else { return nil }
        let part = bytes[element.contents]
        if tag == Self.ia5Text, part.contains(where: { $0 > 0x7F }) { return nil }
        return String(validating: part, as: UTF8.self)
    }

    /// The value of the next element, a positive integer of at most seven bytes.
    mutating func count() -> UInt64? {
        guard nextTag == Self.integer, let element = next(), (1...7).contains(element.contents.count)
        else { return nil }
        let part = bytes[element.contents]
        guard let first = part.first, first < 0x80 else { return nil }
        if part.count > 1, first == 0, part[part.startIndex + 1] < 0x80 { return nil }
        return part.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
