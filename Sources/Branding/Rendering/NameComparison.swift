// SPDX-License-Identifier: Apache-2.0

import CUnicode

/// Compares names as a reader does: compatibility forms, case and white space do not count.
public enum NameComparison {
    /// The longest name that is compared beyond ASCII, in UTF-16 units.
    private static let longest = 512

    /// True if both names are the same by NFKC, folded case and folded white space; never for an empty name.
    public static func agree(_ one: String, _ other: String) -> Bool {
        guard let first = folded(one), let second = folded(other) else { return false }
        return first == second && !first.isEmpty
    }

    /// The folded form without outer blanks and with single inner ones; nil for a name that is too long.
    private static func folded(_ name: String) -> [UInt16]? {
        let units = Array(name.utf16)
        if units.allSatisfy({ $0 < 0x80 }) {
            return collapsed(units.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        }
        guard units.count <= longest else { return nil }
        // No character has a longer form than 18 units.
        var form = [UInt16](repeating: 0, count: units.count * 18)
        let length = herald_unicode_fold(units, Int32(units.count), &form, Int32(form.count))
        return length < 0 ? nil : collapsed(Array(form.prefix(Int(length))))
    }

    private static func collapsed(_ units: [UInt16]) -> [UInt16] {
        var out: [UInt16] = []
        for unit in units {
            if unit != 0x20, !(0x09...0x0D).contains(unit) {
                out.append(unit)
            } else if let last = out.last, last != 0x20 {
                out.append(0x20)
            }
        }
        if out.last == 0x20 { out.removeLast() }
        return out
    }
}
