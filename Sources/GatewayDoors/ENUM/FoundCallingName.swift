// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The record of a number, if it has one, and whether its trunk shows brands in shadow alone.
package struct FoundCallingName: Hashable, Sendable {
    /// Nil for a number without a record.
    package let record: CallingNameRecord?
    /// Whether the number has a brand that is not shown.
    package let isInShadow: Bool

    package init(_ record: CallingNameRecord?, isInShadow: Bool = false) {
        (self.record, self.isInShadow) = (record, isInShadow)
    }
}
