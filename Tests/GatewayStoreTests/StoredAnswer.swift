// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore

/// One answer of the directory with its records, as short as a test can say it.
struct StoredAnswer {
    var isFull: Bool
    var upserts: [BrandRecord]
    var removals: [E164Number] = []
    var cursor: String? = "c"
    var validator: SyncValidator?
    var gates = BrandingGates()
    var now: Int64
}

extension BrandCacheStore {
    /// Lets the records wait and then applies them, as a sync does.
    func apply(_ answer: StoredAnswer) async throws -> AppliedSync {
        let intake = try await intake()
        try await intake.add(
            answer.upserts, inactive: answer.removals.map { InactiveNumber(number: $0, updatedAt: "") })
        return try await apply(
            SyncChange(
                isFull: answer.isFull, cursor: answer.cursor, validator: answer.validator, gates: answer.gates,
                now: answer.now),
            from: intake)
    }
}
