// SPDX-License-Identifier: Apache-2.0

import Glibc

extension BrandIndex {
    /// Returns an index of the same generation whose tables are those of an equal index; itself if none is equal.
    ///
    /// Accounts with the same brands thus share one copy in memory. A later change copies what it changes. Only tables of the
    /// same layout are equal, as after loads of the same records.
    public func shared(with others: some Sequence<BrandIndex>) -> BrandIndex {
        guard let equal = others.first(where: { $0 !== self && isEqual(to: $0) }) else { return self }
        return BrandIndex(generation: generation, profile: profile, numbers: equal.numbers, brands: equal.brands)
    }

    /// A number of the memory that holds the table: the same for indexes that share it.
    public var memoryIdentity: UInt {
        numbers.table.keys.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private func isEqual(to other: BrandIndex) -> Bool {
        profile == other.profile && numbers.isEqual(to: other.numbers) && brands.isEqual(to: other.brands)
    }
}

extension BrandedNumbers {
    fileprivate func isEqual(to other: BrandedNumbers) -> Bool {
        count == other.count && tableBrands == other.tableBrands && table.isEqual(to: other.table)
            && changes.isEqual(to: other.changes)
    }
}

extension NumberTable {
    fileprivate func isEqual(to other: NumberTable) -> Bool {
        count == other.count && keys.isSame(as: other.keys) && values.isSame(as: other.values)
    }
}

extension RenderedBrands {
    fileprivate func isEqual(to other: RenderedBrands) -> Bool {
        rows.isSame(as: other.rows) && arena.isSame(as: other.arena)
    }
}

extension Array where Element: BitwiseCopyable {
    /// Compares the bytes of two arrays, whose elements have no padding.
    fileprivate func isSame(as other: [Element]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { own in
            other.withUnsafeBytes { foreign in
                guard let first = own.baseAddress, let second = foreign.baseAddress else { return true }
                return first == second || memcmp(first, second, own.count) == 0
            }
        }
    }
}
