// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewayStoreTesting
import TestFixtures
import Testing

@Suite("The stored brands, read beside a gateway")
struct BrandCacheReaderTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path + "/state" }

    @Test func `one number is found with its gates while the gateway has the file open`() async throws {
        let database = try HeraldDatabase(folder: folder)
        let known = try #require(E164Number("+61412000001"))
        let unknown = try #require(E164Number("+61412000002"))
        let gates = BrandingGates(accountStatus: "suspended")
        _ = try await BrandCacheStore(database).apply(
            StoredResponse(
                isFull: true,
                upserts: [
                    BrandRecord(
                        number: known, name: "Acme", brandID: "b-1", logoURL: "https://l.example.com/a.png",
                        callReason: "Hello", updatedAt: "")
                ], removals: [], cursor: "c", gates: gates, now: 10))
        let reader = try BrandCacheReader(folder: folder)
        #expect(try reader.syncState().gates == gates)
        let index = try reader.index(of: known, profile: .init())
        let entry = try #require(index.entry(for: known))
        #expect(index.count == 1)
        #expect(index.generation == 1)
        #expect(index.text(.quotedName, entry) == "\"Acme\"")
        #expect(
            index.text(.callInfo, entry) == "<https://l.example.com/a.png>;purpose=icon;call-reason=\"Hello\"")
        #expect(try reader.index(of: unknown, profile: .init()).count == 0)
        try database.close()
    }

    @Test func `without a file the error says what to do and none is made`() {
        let error = #expect(throws: HeraldDatabaseError.self) { try BrandCacheReader(folder: folder) }
        #expect(error?.problem == .missing)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}
