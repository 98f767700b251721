// SPDX-License-Identifier: Apache-2.0

/// One brand of an index.
///
/// Means something only to the index it came from; a few bytes, to be kept for the length of a call.
package struct BrandEntry: Hashable, Sendable {
    /// Position among the brands of the index.
    let brand: UInt32
}
