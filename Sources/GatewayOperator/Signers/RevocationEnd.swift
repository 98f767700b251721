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

    /// The earliest end of each issuer, by name. One with several keys has a list for each, and chains are judged by all of them.
    static func earliest(of lists: [StoredRevocationList]) -> [RevocationEnd] {
        Dictionary(grouping: lists.compactMap(RevocationEnd.init), by: \.issuer).values
            .compactMap { $0.min { $0.next < $1.next } }.sorted { $0.issuer < $1.issuer }
    }
}
