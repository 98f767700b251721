// SPDX-License-Identifier: Apache-2.0

/// Maps numbers to brands in two layers: a base table, and a delta table on top of it.
///
/// After a small sync the new index shares the base table with the old one. A copy of the base table costs 0.3 to 0.5 s
/// for ten million numbers (170 MB), and doubles the memory meanwhile. Lookups check the delta table first. It is small
/// enough for the processor's cache.
struct BrandedNumbers: Sendable {
    /// The base table.
    private(set) var table: NumberTable
    /// The delta table: numbers whose brand differs from the base table, or `gone`.
    private(set) var changes: NumberTable
    /// The number of phone numbers with a brand.
    private(set) var count: Int
    /// The number of brands that the base table may refer to. Later brands belong to the delta table only.
    private(set) var tableBrands: Int

    /// The value in the delta table for a number that was removed from the base table.
    static let gone = UInt32.max

    /// - Parameter brands: the number of brands.
    init(_ table: NumberTable, brands: Int) {
        self.table = table
        changes = NumberTable(expectedCount: 0)
        count = table.count
        tableBrands = brands
    }

    /// Restores saved tables. Nil if the delta removes an absent number, or if the total differs from `count`.
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

    /// Returns the delta's limit for a base table of `count` numbers.
    ///
    /// Zero for small tables, which are copied within milliseconds.
    static func deltaLimit(for count: Int) -> Int { count < 1 << 17 ? 0 : count / 32 }

    /// Memory in bytes.
    var memory: Int { (table.keys.count + changes.keys.count) * 12 }

    /// Returns the brand of a number, or nil; never allocates.
    @inline(__always)
    func value(of number: E164Number) -> UInt32? {
        if changes.count > 0, let changed = changes.value(of: number) { return changed == Self.gone ? nil : changed }
        return table.value(of: number)
    }

    /// The digits of the lowest number with a brand; nil without any.
    var lowest: UInt64? {
        var found: UInt64?
        for keys in [table.keys, changes.keys] {
            for digits in keys where digits != 0 && digits < found ?? .max && isBranded(digits) { found = digits }
        }
        return found
    }

    /// Sets the brand of a number, which may have had one.
    mutating func set(_ brand: UInt32, for digits: UInt64) {
        if !isBranded(digits) { count += 1 }
        record(brand, for: digits)
    }

    /// Removes a number, if present.
    mutating func remove(_ digits: UInt64) {
        guard isBranded(digits) else { return }
        count -= 1
        if table.slot(for: digits).isFilled { record(Self.gone, for: digits) } else { changes.remove(digits) }
    }

    /// Merges the delta into a new base table of suitable size.
    mutating func mergeChanges() {
        let changed = changes.keys.indices.filter { changes.keys[$0] != 0 }
        // Removals come first because they free slots for additions.
        var next = table.fits(max(table.count, count)) ? NumberTable(copying: table) : table.resized(to: count)
        for slot in changed where changes.values[slot] == Self.gone { next.remove(changes.keys[slot]) }
        for slot in changed where changes.values[slot] != Self.gone {
            next.put(changes.values[slot], under: changes.keys[slot], in: next.slot(for: changes.keys[slot]).slot)
        }
        table = next.isTooLarge ? next.resized(to: count) : next
        changes = NumberTable(expectedCount: 0)
    }

    /// Drops unused brands from `brands`, and duplicates among those added from position `first` on.
    ///
    /// With an empty delta all brands are checked. Otherwise only the brands of the delta are checked, because the base
    /// table is not scanned.
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

    private mutating func record(_ value: UInt32, for digits: UInt64) {
        if changes.isFull { changes = changes.resized(to: max(changes.count * 2, 1024)) }
        changes.put(value, under: digits, in: changes.slot(for: digits).slot)
    }
}
