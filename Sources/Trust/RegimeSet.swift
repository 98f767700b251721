// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The regimes of a process by their names and their order, as one number.
///
/// A signer has one standing for each regime by position, so a policy may read standings of the same set alone.
public enum RegimeSet {
    /// The number of regimes with these names in this order.
    public static func number(of names: [String]) -> UInt64 {
        let text = names.map { $0 + "\n" }.joined()
        return SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
