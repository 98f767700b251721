// SPDX-License-Identifier: Apache-2.0

/// A hash table from E.164 digits to a position, in two flat arrays: open addressing, twelve bytes a slot.
///
/// At most seven slots in ten are filled, so a search ends after a few steps in one or two cache lines. The place a
/// number belongs to grows with its hash, whatever the capacity, so any count of slots will do and none is wasted.
struct NumberTable: Sendable {
    /// The digits of each slot, zero for an empty one.
    private(set) var keys: [UInt64]
    /// What is filed under them.
    private(set) var values: [UInt32]
    private(set) var count: Int

    /// An empty table with room for that many numbers.
    init(expectedCount: Int) {
        let capacity = Self.capacity(for: expectedCount)
        keys = [UInt64](zeroes: capacity)
        values = [UInt32](zeroes: capacity)
        count = 0
    }

    /// The same numbers in memory of their own, which can be changed without another copy.
    init(copying other: NumberTable) {
        keys = other.keys.inLargePages()
        values = other.values.inLargePages()
        count = other.count
    }

    /// Takes over the arrays of a saved table.
    ///
    /// - Returns: nil when they do not belong to a table of that count, or a value is neither below `valueLimit` nor
    ///   `other`.
    init?(keys: [UInt64], values: [UInt32], count: Int, valueLimit: Int, or other: UInt32? = nil) {
        guard keys.count == values.count, count <= Self.limit(of: keys.count), !keys.isEmpty else { return nil }
        var filled = 0
        for slot in keys.indices where keys[slot] != 0 {
            guard Int(values[slot]) < valueLimit || values[slot] == other else { return nil }
            filled += 1
        }
        guard filled == count else { return nil }
        self.keys = keys
        self.values = values
        self.count = count
    }

    /// Slots for that many numbers and one in sixty more, so that a small change does not mean another table.
    static func capacity(for count: Int) -> Int { max(count + count / 64, 4) * 10 / 7 + 2 }

    private static func limit(of capacity: Int) -> Int { capacity * 7 / 10 }

    /// True when the next number needs another table.
    var isFull: Bool { !fits(count + 1) }

    /// True when another table of its count would be a fifth smaller and more.
    var isTooLarge: Bool { keys.count > Self.capacity(for: count) * 5 / 4 }

    /// True when that many numbers may be in it.
    func fits(_ count: Int) -> Bool { count <= Self.limit(of: keys.count) }

    /// The value filed under a number; never allocates.
    @inline(__always)
    func value(of number: E164Number) -> UInt32? {
        let keys = keys.span
        var slot = Self.home(of: number.digits, capacity: keys.count)
        while true {
            let key = keys[slot]
            if key == number.digits { return values[slot] }
            if key == 0 { return nil }
            slot += 1
            if slot == keys.count { slot = 0 }
        }
    }

    /// The slot that holds a number, or the empty one where it belongs; the table is never full.
    func slot(for digits: UInt64) -> (slot: Int, isFilled: Bool) {
        var slot = Self.home(of: digits, capacity: keys.count)
        while keys[slot] != 0 {
            if keys[slot] == digits { return (slot, true) }
            slot = next(slot)
        }
        return (slot, false)
    }

    /// Files a value in a slot found by `slot(for:)`.
    mutating func put(_ value: UInt32, under digits: UInt64, in slot: Int) {
        if keys[slot] == 0 { count += 1 }
        keys[slot] = digits
        values[slot] = value
    }

    /// Takes a number out; nothing happens when it is not there.
    mutating func remove(_ digits: UInt64) {
        let (slot, isFilled) = slot(for: digits)
        if isFilled { remove(at: slot) }
    }

    /// Empties a slot and moves up what had to step over it, so that every search still ends at an empty slot.
    private mutating func remove(at slot: Int) {
        var hole = slot
        var probe = next(slot)
        while keys[probe] != 0 {
            let home = Self.home(of: keys[probe], capacity: keys.count)
            // The entry may move back unless its home lies behind the hole, seen around the end of the table.
            let fromHole = probe >= hole ? probe - hole : probe - hole + keys.count
            let fromHome = probe >= home ? probe - home : probe - home + keys.count
            if fromHome >= fromHole {
                keys[hole] = keys[probe]
                values[hole] = values[probe]
                hole = probe
            }
            probe = next(probe)
        }
        keys[hole] = 0
        values[hole] = 0
        count -= 1
    }

    /// Marks the values that numbers have; one beyond the marks is passed over.
    func mark(_ marks: inout [Bool]) {
        for slot in keys.indices where keys[slot] != 0 && Int(values[slot]) < marks.count {
            marks[Int(values[slot])] = true
        }
    }

    /// Files under every number what `positions` holds at its value; a value beyond them stays.
    mutating func mapValues(by positions: [UInt32]) {
        for slot in keys.indices where keys[slot] != 0 && Int(values[slot]) < positions.count {
            values[slot] = positions[Int(values[slot])]
        }
    }

    /// The same numbers in a table with room for `count`.
    ///
    /// - Parameter moved: called with the old and the new slot of each.
    func resized(to count: Int, moved: (Int, Int) -> Void = { _, _ in }) -> NumberTable {
        var next = NumberTable(expectedCount: max(count, self.count))
        for slot in keys.indices where keys[slot] != 0 {
            let destination = next.slot(for: keys[slot]).slot
            next.put(values[slot], under: keys[slot], in: destination)
            moved(slot, destination)
        }
        return next
    }

    private func next(_ slot: Int) -> Int { slot + 1 == keys.count ? 0 : slot + 1 }

    /// Where a number belongs: its mixed digits scaled to the capacity.
    @inline(__always)
    private static func home(of digits: UInt64, capacity: Int) -> Int {
        var hash = digits &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: (hash ^ hash >> 29).multipliedFullWidth(by: UInt64(capacity)).high)
    }
}
