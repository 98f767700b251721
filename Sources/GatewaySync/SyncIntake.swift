// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

/// The items of one answer, checked and sorted into what is written, what is removed and what is left out.
struct SyncIntake {
    private(set) var upserts: [BrandRecord] = []
    /// Numbers marked inactive.
    private(set) var removals: [E164Number] = []
    /// How many items were left out, by reason.
    private(set) var rejected: [String: Int] = [:]

    /// Reads every item; one that cannot be used does not spoil the others.
    ///
    /// - Parameter malformed: how many more items there were that could not even be read.
    init(_ items: [BrandingItem], malformed: Int = 0) {
        upserts.reserveCapacity(items.count)
        if malformed > 0 { rejected["no branding record"] = malformed }
        var inactive: [E164Number: UpdateTime] = [:]
        for item in items {
            if item.isActive == false {
                // A name is not needed to remove a number.
                guard let number = E164Number(item.phoneNumber) else {
                    rejected["no valid number", default: 0] += 1
                    continue
                }
                let time = UpdateTime(item.updatedAt ?? "")
                inactive[number] = max(time, inactive[number] ?? time)
                continue
            }
            do throws(BrandingItemError) {
                let record = try item.record()
                guard !Self.hasNUL(record) else {
                    rejected["NUL in a text", default: 0] += 1
                    continue
                }
                upserts.append(record)
            } catch {
                rejected["\(error)", default: 0] += 1
            }
        }
        guard !inactive.isEmpty else { return }
        // One answer may carry both states of a number, when it was switched off and on again: the newer counts.
        for record in upserts {
            guard let since = inactive[record.number], UpdateTime(record.updatedAt) > since else { continue }
            inactive[record.number] = nil
        }
        upserts.removeAll { inactive[$0.number] != nil }
        removals = inactive.keys.sorted()
    }

    /// SQLite would cut such a text, and the record would differ from the stored one for ever.
    private static func hasNUL(_ record: BrandRecord) -> Bool {
        [record.name, record.brandID, record.logoURL ?? "", record.callReason ?? "", record.updatedAt]
            .contains { $0.utf8.contains(0) }
    }

    var rejectedCount: Int { rejected.values.reduce(0, +) }
}
