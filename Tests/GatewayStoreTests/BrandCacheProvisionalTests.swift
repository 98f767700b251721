// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import Gateway
import GatewayStore
import Testing

@Suite("Records that a lookup brought")
struct BrandCacheProvisionalTests {
    @Test func `a record is added where there is none, and the next full sync decides`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "provisional-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = BrandCacheStore(try HeraldDatabase(folder: folder))
        let number = try #require(E164Number("+61491570157"))
        func named(_ name: String) -> BrandRecord {
            BrandRecord(number: number, name: name, brandID: "", updatedAt: "")
        }
        #expect(try await cache.addProvisional(named("First")))
        #expect(try await cache.addProvisional(named("Second")) == false)
        #expect(try await cache.syncState().generation == 1)
        #expect(try await cache.loadIndex(profile: RenderingProfile()).count == 1)
        let full = StoredAnswer(
            isFull: true, upserts: [], removals: [], cursor: "c", gates: BrandingGates(), now: 1)
        #expect(try await cache.apply(full).removed == 1)
    }
}
