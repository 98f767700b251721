// SPDX-License-Identifier: Apache-2.0

/// The place of a keyed hash in a set or dictionary of the standard library.
///
/// The hash is one already. Hashing it again takes some hundred instructions, eleven times a call.
public enum TablePlace {
    /// A number of this process: a peer that sees hashes can otherwise choose those that fall together.
    private static let factor = UInt64.random(in: 0 ... .max) | 1

    /// The result of `Hashable._rawHashValue`, by which the tables of the standard library place their keys.
    public static func of(_ hash: UInt64, seed: Int) -> Int {
        let (high, low) = (hash ^ UInt64(truncatingIfNeeded: seed)).multipliedFullWidth(by: factor)
        return Int(truncatingIfNeeded: high ^ low)
    }
}
