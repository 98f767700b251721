// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// Everything the call path is told when it starts; immutable.
package struct GatewaySettings: Sendable {
    /// What happens to requests of senders that are no configured peer.
    package enum StrangerTreatment: Hashable, Sendable {
        /// Answered 403.
        case refuse
        /// Not answered at all.
        case drop
    }

    package var topology: GatewayTopology
    package var secret: Secret
    package var timers: TransactionTimers
    package var limits: SIPLimits
    /// Most transactions kept; more requests are answered 503.
    package var mostTransactions: Int
    package var strangers: StrangerTreatment
    /// False lets every call pass as it came.
    package var brands: Bool
    /// False leaves Call-Info out and writes only names.
    package var writesCallInfo: Bool

    package init(
        topology: GatewayTopology, secret: Secret, timers: TransactionTimers, limits: SIPLimits, mostTransactions: Int,
        strangers: StrangerTreatment, brands: Bool, writesCallInfo: Bool
    ) {
        self.topology = topology
        self.secret = secret
        self.timers = timers
        self.limits = limits
        self.mostTransactions = mostTransactions
        self.strangers = strangers
        self.brands = brands
        self.writesCallInfo = writesCallInfo
    }
}
