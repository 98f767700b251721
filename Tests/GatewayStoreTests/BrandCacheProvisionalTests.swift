// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewayStoreTesting
import TestFixtures
import Testing

@Suite("Records that a lookup brought")
struct BrandCacheProvisionalTests {
    @Test func `a record is added where there is none, and the next full sync decides`() async throws {
        let folder = TemporaryFolder()
        let cache = BrandCacheStore(try HeraldDatabase(folder: folder.path))
        let number = try #require(E164Number("+61491570157"))
        func named(_ name: String) -> BrandRecord {
            BrandRecord(number: number, name: name, brandID: "", updatedAt: "")
        }
        let validator = SyncValidator(tag: "\"1\"", modified: nil)
        _ = try await cache.apply(StoredResponse(isFull: true, upserts: [], validator: validator, now: 1))
        #expect(try await cache.addProvisional(named("Second")))
        #expect(try await cache.addProvisional(named("Third")) == false)
        let state = try await cache.syncState()
        #expect(state.generation == 1)
        #expect(state.fullValidator == nil, "or 304 would say that nothing has to be removed")
        #expect(try await cache.loadIndex(profile: RenderingProfile()).count == 1)
        let full = StoredResponse(
            isFull: true, upserts: [], removals: [], cursor: "c", gates: BrandingGates(), now: 1)
        #expect(try await cache.apply(full).removed == 1)
    }
}
