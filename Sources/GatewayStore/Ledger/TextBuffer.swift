// SPDX-License-Identifier: Apache-2.0

/// Texts one after the other in memory that is used again; an array's `append` takes twice the instructions.
struct TextBuffer {
    private var room: [UInt8]
    private(set) var count = 0

    /// - Parameter capacity: bytes that fit without another allocation.
    init(capacity: Int) { room = [UInt8](repeating: 0, count: capacity) }

    /// Adds a text; returns its place.
    @discardableResult
    mutating func append(_ text: UnsafeRawBufferPointer) -> Range<Int> {
        makeRoom(for: text.count)
        let place = count..<count + text.count
        room.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[place]).copyMemory(from: text) }
        count = place.upperBound
        return place
    }

    mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        room[count] = byte
        count += 1
    }

    mutating func removeAll() { count = 0 }

    func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try room.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private mutating func makeRoom(for bytes: Int) {
        guard room.count - count < bytes else { return }
        room.append(contentsOf: repeatElement(0, count: max(room.count, bytes)))
    }
}
