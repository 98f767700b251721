// SPDX-License-Identifier: Apache-2.0

import WebPages

/// Counts, sizes and times as people read them.
enum Amount {
    /// Such as `1,234,567`.
    static func count(_ count: some BinaryInteger) -> String { CountText.of(count) }

    /// Such as `12.5 MiB`.
    static func bytes(_ bytes: Int64) -> String {
        for (unit, name) in [(Int64(1) << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        where bytes >= unit {
            let tenths = bytes * 10 / unit
            return tenths < 100 ? "\(tenths / 10).\(tenths % 10) \(name)" : "\(tenths / 10) \(name)"
        }
        return "\(bytes) bytes"
    }
}
