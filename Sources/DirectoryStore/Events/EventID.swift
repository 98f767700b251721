// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Identifiers of events: UUIDs of version 7 (RFC 9562 §5.7), which begin with the time.
///
/// Identifiers of one moment are neighbours in the index, so a group of events writes one index page instead of one
/// each.
enum EventID {
    /// Creates an identifier; `now` is seconds since 1970.
    static func make(now: Int64) -> String {
        let time = UInt64(max(now, 0)) * 1000 & 0xffff_ffff_ffff
        let high = time << 16 | 0x7000 | UInt64.random(in: 0...0xfff)
        let low = 1 << 63 | UInt64.random(in: 0..<1 << 62)
        let digits = Array(Hexadecimal.text(bytes(high) + bytes(low)).utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// The eight bytes of a number in network order.
    private static func bytes(_ value: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
    }
}
