// SPDX-License-Identifier: Apache-2.0

/// A brand in one `BrandIndex`.
///
/// Valid only for the index that returned it. Small enough to be kept for the length of a call.
package struct BrandEntry: Hashable, Sendable {
    /// Position of the brand in the index.
    let brand: UInt32
}
