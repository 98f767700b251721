// SPDX-License-Identifier: Apache-2.0

package import CallAccounting

/// A settled original of the shared ledger, as far as it concerns this gateway.
package struct SharedReturn: Hashable, Sendable {
    /// The call that was returned, or that a newer one settled.
    package let original: ReturnedOriginal
    /// The row of the original in this gateway's ledger; nil for a call of another gateway.
    package let originalCall: Int64?
    /// The row of the call back in this gateway's ledger, which mints the event; nil for a call of another gateway.
    package let callBack: Int64?
    /// Time of the INVITE of the call back, microseconds since 1970 by this gateway's clock; nil if the call back
    /// returned a newer original.
    package let returnedAt: Int64?
    /// Whole seconds from the end of the original to that INVITE.
    package let latency: Int

    package init(
        original: ReturnedOriginal, originalCall: Int64?, callBack: Int64?, returnedAt: Int64?, latency: Int
    ) {
        (self.original, self.originalCall, self.callBack) = (original, originalCall, callBack)
        (self.returnedAt, self.latency) = (returnedAt, latency)
    }
}
