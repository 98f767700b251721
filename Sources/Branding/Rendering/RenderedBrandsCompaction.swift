// SPDX-License-Identifier: Apache-2.0

extension RenderedBrands {
    /// Takes out the brands that no number has any more, and those that were added although they were there.
    ///
    /// - Parameters:
    ///   - isUsed: says of each brand whether a number has it.
    ///   - first: position of the first brand that may have been there already.
    /// - Returns: the new position of each brand by its old one; nil when nothing had to move.
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

    /// Brands from `first` on that say the same as one before, by their positions.
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
