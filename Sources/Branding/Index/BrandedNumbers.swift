// SPDX-License-Identifier: Apache-2.0

/// Which number has which brand: a table of all, and over it what changed since the table was made.
///
/// So an index after a small sync shares the table with the one before it. Copying the 170 MB of ten million numbers for
/// 10,000 of them took 0.3 to 0.5 s of a sync's second and, for a while, as much memory again. A search looks among the
/// changes first, which are few enough to stay near the processor.
struct BrandedNumbers: Sendable {
    /// Without the changes.
    private(set) var table: NumberTable
    /// Numbers that have another brand than in the table, or `gone`.
    private(set) var changes: NumberTable
    /// How many numbers have a brand.
    private(set) var count: Int
    /// Brands the table may name; those behind them belong to changes alone.
    private(set) var tableBrands: Int

    /// Stands in `changes` for a number of the table that has no brand any more.
    static let gone = UInt32.max

    /// - Parameter brands: how many brands there are.
    init(_ table: NumberTable, brands: Int) {
        self.table = table
        changes = NumberTable(expectedCount: 0)
        count = table.count
        tableBrands = brands
    }

    /// Takes over saved tables; nil when a change takes out what is not there, or they have not `count` numbers together.
    init?(_ table: NumberTable, brands: Int, changes: NumberTable, count: Int) {
        var found = table.count
        for slot in changes.keys.indices where changes.keys[slot] != 0 {
            let isListed = table.slot(for: changes.keys[slot]).isFilled
            let isGone = changes.values[slot] == Self.gone
            guard isListed || !isGone else { return nil }
            found += isListed ? (isGone ? -1 : 0) : 1
        }
        guard found == count else { return nil }
        self.table = table
        self.changes = changes
        self.count = count
        tableBrands = brands
    }

    /// Changes worth keeping apart from a table of that many numbers; none where it is copied within milliseconds.
    static func room(over count: Int) -> Int { count < 1 << 17 ? 0 : count / 32 }

    /// Bytes of memory held.
    var memory: Int { (table.keys.count + changes.keys.count) * 12 }

    /// The brand of a number; never allocates.
    @inline(__always)
    func value(of number: E164Number) -> UInt32? {
        if changes.count > 0, let changed = changes.value(of: number) { return changed == Self.gone ? nil : changed }
        return table.value(of: number)
    }

    /// Gives a number a brand, whether it had one or not.
    mutating func set(_ brand: UInt32, for digits: UInt64) {
        if !isBranded(digits) { count += 1 }
        note(brand, for: digits)
    }

    /// Takes a number out; nothing happens when it is not there.
    mutating func remove(_ digits: UInt64) {
        guard isBranded(digits) else { return }
        count -= 1
        if table.slot(for: digits).isFilled { note(Self.gone, for: digits) } else { changes.remove(digits) }
    }

    /// Puts the changes into a table of its own, as large as its numbers need.
    mutating func mergeChanges() {
        let changed = changes.keys.indices.filter { changes.keys[$0] != 0 }
        // What goes makes room for what comes.
        var next = table.fits(max(table.count, count)) ? NumberTable(copying: table) : table.resized(to: count)
        for slot in changed where changes.values[slot] == Self.gone { next.remove(changes.keys[slot]) }
        for slot in changed where changes.values[slot] != Self.gone {
            next.put(changes.values[slot], under: changes.keys[slot], in: next.slot(for: changes.keys[slot]).slot)
        }
        table = next.isTooLarge ? next.resized(to: count) : next
        changes = NumberTable(expectedCount: 0)
    }

    /// Takes out of `brands` what no number has any more, and what was added from `first` on although it was there.
    ///
    /// Without changes that is said of all brands, else of those the table does not name: it is not looked through then.
    mutating func compact(_ brands: inout RenderedBrands, addedFrom first: Int) {
        let isWhole = changes.count == 0
        var isUsed = [Bool](repeating: false, count: brands.rows.count)
        if !isWhole { for brand in 0..<tableBrands { isUsed[brand] = true } }
        (isWhole ? table : changes).mark(&isUsed)
        if let positions = brands.compact(isUsed: isUsed, addedFrom: first) {
            if isWhole { table.mapValues(by: positions) } else { changes.mapValues(by: positions) }
        }
        if isWhole { tableBrands = brands.rows.count }
    }

    private func isBranded(_ digits: UInt64) -> Bool {
        let (slot, isChanged) = changes.slot(for: digits)
        return isChanged ? changes.values[slot] != Self.gone : table.slot(for: digits).isFilled
    }

    private mutating func note(_ value: UInt32, for digits: UInt64) {
        if changes.isFull { changes = changes.resized(to: max(changes.count * 2, 1024)) }
        changes.put(value, under: digits, in: changes.slot(for: digits).slot)
    }
}
