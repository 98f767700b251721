// SPDX-License-Identifier: Apache-2.0

package import Branding
package import CallAccounting
package import GatewayStore

/// One sync response of the directory with its records, with defaults for what a test does not set.
package struct StoredResponse {
    package var isFull: Bool
    package var upserts: [BrandRecord]
    package var removals: [E164Number]
    package var cursor: String?
    package var validator: SyncValidator?
    package var gates: BrandingGates
    package var now: Int64

    package init(
        isFull: Bool, upserts: [BrandRecord], removals: [E164Number] = [], cursor: String? = "c",
        validator: SyncValidator? = nil, gates: BrandingGates = BrandingGates(), now: Int64
    ) {
        self.isFull = isFull
        self.upserts = upserts
        self.removals = removals
        self.cursor = cursor
        self.validator = validator
        self.gates = gates
        self.now = now
    }
}

extension BrandCacheStore {
    /// Adds the records to an intake and applies it, as a sync does.
    package func apply(_ response: StoredResponse) async throws -> AppliedSync {
        let intake = try await intake()
        try await intake.add(
            response.upserts, inactive: response.removals.map { InactiveNumber(number: $0, updatedAt: "") })
        return try await apply(
            SyncChange(
                isFull: response.isFull, cursor: response.cursor, validator: response.validator, gates: response.gates,
                now: response.now),
            from: intake)
    }
}
