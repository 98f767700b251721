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

    /// An ISO 8601 time as `2026-11-27 21:40:05`, in UTC.
    static func time(_ text: String?) -> String {
        guard let text else { return "never" }
        return String(text.prefix(19)).replacing("T", with: " ")
    }

    /// True for a text of `time`.
    static func isTime(_ text: String) -> Bool {
        text.utf8.count == 19 && text.utf8.first.map { (0x30...0x39).contains($0) } ?? false && text.contains(":")
    }
}
