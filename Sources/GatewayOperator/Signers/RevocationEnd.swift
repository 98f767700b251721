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

    /// The latest end of each issuer, by name: after a change of its key the last list of the former one ends for good.
    static func latest(of lists: [StoredRevocationList]) -> [RevocationEnd] {
        Dictionary(grouping: lists.compactMap(RevocationEnd.init), by: \.issuer).values
            .compactMap { $0.max { $0.next < $1.next } }.sorted { $0.issuer < $1.issuer }
    }
}
