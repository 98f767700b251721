// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import GatewaySync

/// The time before which the next revocation list of an issuer comes.
struct RevocationEnd: Equatable, Sendable {
    /// The name of the issuer, for the operator.
    let issuer: String
    /// Seconds since 1970.
    let next: Int64

    /// The end of a stored list; nil for one without an end.
    init?(_ stored: StoredRevocationList) {
        guard let list = RevocationList(der: stored.der), let next = list.nextUpdate else { return nil }
        (issuer, self.next) = (list.name, next)
    }
}
