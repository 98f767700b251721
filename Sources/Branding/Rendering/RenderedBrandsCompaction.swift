// SPDX-License-Identifier: Apache-2.0

extension RenderedBrands {
    /// Removes unused brands, and duplicates among the added brands.
    ///
    /// - Parameters:
    ///   - isUsed: whether each brand has a number.
    ///   - first: position of the first added brand, which may duplicate an earlier one.
    /// - Returns: the new position of each brand by its old position; nil if nothing changed.
    mutating func compact(isUsed: [Bool], addedFrom first: Int) -> [UInt32]? {
        var isUsed = isUsed
        let twins = twins(addedFrom: first)
        for (added, known) in twins where isUsed[added] {
            isUsed[added] = false
            isUsed[known] = true
        }
        guard isUsed.contains(false) else { return nil }
        var kept = RenderedBrands()
        var places = [UInt32](repeating: 0, count: rows.count)
        for position in rows.indices where isUsed[position] {
            places[position] = UInt32(kept.rows.count)
            kept.append(rows[position], of: self)
        }
        for (added, known) in twins { places[added] = places[known] }
        self = kept
        return places
    }

    /// Returns each brand from `first` on that equals an earlier brand, with both positions.
    private func twins(addedFrom first: Int) -> [(added: Int, known: Int)] {
        guard first < rows.count else { return [] }
        return arena.withUnsafeBytes { arena in
            func fingerprint(_ row: Row) -> BrandFingerprint {
                BrandFingerprint(row, UnsafeRawBufferPointer(rebasing: arena[Int(row.start)..<Int(row.end)]))
            }
            var added: [BrandFingerprint: Int] = [:]
            for position in first..<rows.count { added[fingerprint(rows[position])] = position }
            return rows[..<first].enumerated().compactMap { known, row in
                added.removeValue(forKey: fingerprint(row)).map { (added: $0, known: known) }
            }
        }
    }
}
