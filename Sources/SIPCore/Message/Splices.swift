// SPDX-License-Identifier: Apache-2.0

/// Edits to a received message: byte ranges and what stands in their place.
///
/// Everything outside the ranges leaves as it came (RFC 3261 §16.6 names what a proxy may touch). Edits may be
/// added in any order; those at one position keep the order they were added in. Ranges must not overlap.
package struct Splices: Sendable {
    fileprivate struct Edit {
        let range: Range<Int>
        /// Where the replacement lies in `arena`.
        let text: Range<Int>
    }

    /// By position; those at one position in the order they were added.
    private var edits: [Edit] = []
    private var arena: [UInt8] = []

    package init() {}

    /// Forgets all edits and keeps their room for the next message.
    package mutating func clear() {
        edits.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
    }

    /// True when nothing is to be changed.
    package var isEmpty: Bool { edits.isEmpty }

    /// Bytes the message grows by; negative when it shrinks.
    ///
    /// Of edits that overlap it is wrong, by which tests and the fuzzer find them.
    package var growth: Int { edits.reduce(0) { $0 + $1.text.count - $1.range.count } }

    /// Takes a range out.
    package mutating func remove(_ range: Range<Int>) { replace(range) { _ in } }

    /// Puts text in front of the byte at `position`.
    package mutating func insert(at position: Int, _ write: (inout [UInt8]) -> Void) {
        replace(position..<position, write)
    }

    /// Puts the bytes that `write` appends in the place of a range.
    package mutating func replace(_ range: Range<Int>, _ write: (inout [UInt8]) -> Void) {
        let start = arena.count
        write(&arena)
        let edit = Edit(range: range, text: start..<arena.count)
        var place = edits.count
        while place > 0, edits[place - 1].range.lowerBound > range.lowerBound { place -= 1 }
        if place == edits.count {
            edits.append(edit)
        } else {
            edits.insert(edit, at: place)
        }
    }

    /// The message with all edits made, in one new buffer.
    package func applied(to bytes: [UInt8]) -> [UInt8] {
        guard !edits.isEmpty else { return bytes }
        var out: [UInt8] = []
        bytes.withUnsafeBytes { bytes in
            arena.withUnsafeBytes { arena in
                var count = 0
                eachPiece(of: bytes, arena) { count += $0.count }
                out.append(addingCapacity: count) { out in
                    out.withUnsafeMutableBufferPointer { buffer, written in
                        let buffer = UnsafeMutableRawBufferPointer(buffer)
                        eachPiece(of: bytes, arena) { piece in
                            UnsafeMutableRawBufferPointer(rebasing: buffer[written...]).copyMemory(from: piece)
                            written += piece.count
                        }
                    }
                }
            }
        }
        return out
    }

    /// Hands out what the edited message is made of, first to last.
    @inline(__always)
    private func eachPiece(
        of bytes: UnsafeRawBufferPointer, _ arena: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        var position = 0
        for edit in edits {
            if edit.range.lowerBound > position {
                body(UnsafeRawBufferPointer(rebasing: bytes[position..<edit.range.lowerBound]))
            }
            if !edit.text.isEmpty { body(UnsafeRawBufferPointer(rebasing: arena[edit.text])) }
            position = max(position, edit.range.upperBound)
        }
        if position < bytes.count { body(UnsafeRawBufferPointer(rebasing: bytes[position...])) }
    }
}
