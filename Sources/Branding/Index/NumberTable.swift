// SPDX-License-Identifier: Apache-2.0

/// A hash table from E.164 digits to a 32-bit value: open addressing, two flat arrays, 12 bytes per slot.
///
/// The load is at most 70 %, so a lookup ends within one or two cache lines. A number's home slot is its hash scaled to
/// the capacity, so any capacity works and need not be a power of two.
struct NumberTable: Sendable {
    /// The digits in each slot; zero marks an empty slot.
    private(set) var keys: [UInt64]
    /// The values, parallel to `keys`.
    private(set) var values: [UInt32]
    private(set) var count: Int

    /// Creates an empty table for `expectedCount` numbers.
    init(expectedCount: Int) {
        let capacity = Self.capacity(for: expectedCount)
        keys = [UInt64](zeroes: capacity)
        values = [UInt32](zeroes: capacity)
        count = 0
    }

    /// Creates a copy with memory of its own, so that changes cause no further copy.
    init(copying other: NumberTable) {
        keys = other.keys.inLargePages()
        values = other.values.inLargePages()
        count = other.count
    }

    /// Restores a saved table.
    ///
    /// - Returns: nil if the arrays do not form a table of `count` numbers. Also nil if a value is neither below
    ///   `valueLimit` nor equal to `other`.
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

    /// Returns the slots for `count` numbers and 1/64 more, so that a small change needs no new table.
    static func capacity(for count: Int) -> Int { max(count + count / 64, 4) * 10 / 7 + 2 }

    private static func limit(of capacity: Int) -> Int { capacity * 7 / 10 }

    /// True if the next number needs a larger table.
    var isFull: Bool { !fits(count + 1) }

    /// True if a new table of this count has less than 4/5 of the slots.
    var isTooLarge: Bool { keys.count > Self.capacity(for: count) * 5 / 4 }

    /// True if the table can hold `count` numbers.
    func fits(_ count: Int) -> Bool { count <= Self.limit(of: keys.count) }

    /// Returns the value of a number, or nil; never allocates.
    @inline(__always)
    func value(of number: E164Number) -> UInt32? { value(under: number.digits) }

    /// Returns the value of any digits but 0, or nil; never allocates.
    @inline(__always)
    func value(under digits: UInt64) -> UInt32? {
        let keys = keys.span
        var slot = Self.home(of: digits, capacity: keys.count)
        while true {
            let key = keys[slot]
            if key == digits { return values[slot] }
            if key == 0 { return nil }
            slot += 1
            if slot == keys.count { slot = 0 }
        }
    }

    /// Returns the slot that holds a number, or else the empty slot for it. The table always has an empty slot.
    func slot(for digits: UInt64) -> (slot: Int, isFilled: Bool) {
        var slot = Self.home(of: digits, capacity: keys.count)
        while keys[slot] != 0 {
            if keys[slot] == digits { return (slot, true) }
            slot = next(slot)
        }
        return (slot, false)
    }

    /// Stores a value in a slot returned by `slot(for:)`.
    mutating func put(_ value: UInt32, under digits: UInt64, in slot: Int) {
        if keys[slot] == 0 { count += 1 }
        keys[slot] = digits
        values[slot] = value
    }

    /// Removes a number, if present.
    mutating func remove(_ digits: UInt64) {
        let (slot, isFilled) = slot(for: digits)
        if isFilled { remove(at: slot) }
    }

    /// Empties a slot and moves displaced entries back, so that every probe sequence still ends at an empty slot.
    private mutating func remove(at slot: Int) {
        var hole = slot
        var probe = next(slot)
        while keys[probe] != 0 {
            let home = Self.home(of: keys[probe], capacity: keys.count)
            // An entry moves into the hole unless its home slot lies behind the hole. Distances wrap around the end of
            // the table.
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

    /// Marks every value in use. Ignores values beyond `marks`.
    func mark(_ marks: inout [Bool]) {
        for slot in keys.indices where keys[slot] != 0 && Int(values[slot]) < marks.count {
            marks[Int(values[slot])] = true
        }
    }

    /// Replaces every value by `positions[value]`. Keeps values beyond `positions`.
    mutating func mapValues(by positions: [UInt32]) {
        for slot in keys.indices where keys[slot] != 0 && Int(values[slot]) < positions.count {
            values[slot] = positions[Int(values[slot])]
        }
    }

    /// Returns a table with the same numbers and slots for `count` of them.
    ///
    /// - Parameter moved: called with the old and the new slot of each number.
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

    /// Returns the home slot of a number: its hash scaled to the capacity.
    @inline(__always)
    private static func home(of digits: UInt64, capacity: Int) -> Int {
        var hash = digits &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: (hash ^ hash >> 29).multipliedFullWidth(by: UInt64(capacity)).high)
    }
}
