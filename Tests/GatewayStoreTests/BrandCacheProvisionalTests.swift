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

    @Test func `an incremental sync confirms or removes the numbers it lists, and no others`() async throws {
        let folder = TemporaryFolder()
        let cache = BrandCacheStore(try HeraldDatabase(folder: folder.path))
        let numbers = try ["+61491570156", "+61491570157", "+61491570158"].map { try #require(E164Number($0)) }
        func named(_ name: String, _ number: E164Number, at time: String = "2026-01-01T00:00:00Z") -> BrandRecord {
            BrandRecord(number: number, name: name, brandID: "", updatedAt: time)
        }
        for number in numbers { #expect(try await cache.addProvisional(named("Found", number))) }
        #expect(try await cache.provisional(limit: 2) == Array(numbers.prefix(2)))
        let sync = StoredResponse(
            isFull: false, upserts: [named("Listed", numbers[0], at: "2026-01-02T00:00:00Z")],
            removals: [numbers[1]], cursor: "c", gates: BrandingGates(), now: 1)
        _ = try await cache.apply(sync)
        #expect(try await cache.provisional(limit: 9) == [numbers[2]])
        // A repeated lookup changes what no sync has listed, and nothing else.
        #expect(try await cache.replaceProvisional(numbers[0], by: nil) == false)
        #expect(try await cache.replaceProvisional(numbers[2], by: named("Found", numbers[2])) == false)
        let before = try await cache.syncState().generation
        #expect(try await cache.replaceProvisional(numbers[2], by: named("Renamed", numbers[2])))
        #expect(try await cache.replaceProvisional(numbers[2], by: nil))
        #expect(try await cache.syncState().generation == before + 2)
        #expect(try await cache.provisional(limit: 9).isEmpty)
        let index = try await cache.loadIndex(profile: RenderingProfile())
        #expect(index.count == 1 && index.entry(for: numbers[0]) != nil)
    }
}
