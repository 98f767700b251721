// SPDX-License-Identifier: Apache-2.0

/// Edits to a received message: byte ranges and their replacements.
///
/// Everything outside the ranges leaves as it came (RFC 3261 §16.6 names what a proxy may touch). Edits may be
/// added in any order. Those at one position keep that order. Ranges must not overlap.
public struct Splices: Sendable {
    fileprivate struct Edit {
        let range: Range<Int>
        /// Where the replacement lies in `arena`.
        let text: Range<Int>
    }

    /// By position; those at one position in the order in which they were added.
    private var edits: [Edit] = []
    private var arena: [UInt8] = []

    public init() {}

    /// Removes all edits and keeps the capacity for the next message.
    public mutating func clear() {
        edits.removeAll(keepingCapacity: true)
        arena.removeAll(keepingCapacity: true)
    }

    /// True when nothing is to be changed.
    public var isEmpty: Bool { edits.isEmpty }

    /// Bytes the message grows by; negative when it shrinks.
    ///
    /// Of edits that overlap it is wrong, by which tests and the fuzzer find them.
    public var growth: Int { edits.reduce(0) { $0 + $1.text.count - $1.range.count } }

    /// Takes a range out.
    public mutating func remove(_ range: Range<Int>) { replace(range) { _ in } }

    /// Puts text in front of the byte at `position`.
    public mutating func insert(at position: Int, _ write: (inout [UInt8]) -> Void) {
        replace(position..<position, write)
    }

    /// Puts the bytes that `write` appends in the place of a range.
    public mutating func replace(_ range: Range<Int>, _ write: (inout [UInt8]) -> Void) {
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
    public func applied(to bytes: [UInt8]) -> [UInt8] {
        guard !edits.isEmpty else { return bytes }
        let (received, written, edits) = (bytes.span, arena.span, edits.span)
        var out: [UInt8] = []
        // Each byte is taken once at most.
        out.append(addingCapacity: received.count + written.count) { out in
            var position = 0
            for place in edits.indices {
                let edit = edits[place]
                if edit.range.lowerBound > position { out.append(position..<edit.range.lowerBound, of: received) }
                if !edit.text.isEmpty { out.append(edit.text, of: written) }
                position = max(position, edit.range.upperBound)
            }
            if position < received.count { out.append(position..<received.count, of: received) }
        }
        return out
    }
}
