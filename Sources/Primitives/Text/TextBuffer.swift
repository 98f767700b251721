// SPDX-License-Identifier: Apache-2.0

/// Texts one after the other in memory that is used again; an array's `append` takes twice the instructions.
public struct TextBuffer: Sendable {
    private var room: [UInt8]
    public private(set) var count = 0

    /// - Parameter capacity: bytes that fit without another allocation.
    public init(capacity: Int) { room = [UInt8](repeating: 0, count: capacity) }

    /// Adds a text; returns its place.
    @discardableResult
    public mutating func append(_ text: UnsafeRawBufferPointer) -> Range<Int> {
        makeRoom(for: text.count)
        let place = count..<count + text.count
        room.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[place]).copyMemory(from: text) }
        count = place.upperBound
        return place
    }

    @discardableResult
    public mutating func append(_ text: String) -> Range<Int> {
        var text = text
        return text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    public mutating func append(literal text: StaticString) {
        text.withUTF8Buffer { _ = append(UnsafeRawBufferPointer($0)) }
    }

    public mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        room[count] = byte
        count += 1
    }

    /// Adds a number in decimal digits.
    public mutating func append(decimal value: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (first, rest) = (20, value)
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        digits.span.withUnsafeBytes { _ = append(UnsafeRawBufferPointer(rebasing: $0[first...])) }
    }

    /// Returns the place of everything that `write` adds.
    public mutating func place(_ write: (inout TextBuffer) -> Void) -> Range<Int> {
        let start = count
        write(&self)
        return start..<count
    }

    public mutating func removeAll() { count = 0 }

    public func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try room.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private mutating func makeRoom(for bytes: Int) {
        guard room.count - count < bytes else { return }
        room.append(contentsOf: repeatElement(0, count: max(room.count, bytes)))
    }
}
