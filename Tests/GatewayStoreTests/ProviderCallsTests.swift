// SPDX-License-Identifier: Apache-2.0

import GRDB
import TestFixtures
import Testing

@testable import GatewayStore

@Suite("Calls by signer")
struct ProviderCallsTests {
    private static let day: Int64 = 86_400
    private static let now: Int64 = 1_800_000_000

    /// A call of the ledger, as far as the queries read it.
    private struct Call {
        var daysAgo: Int64
        var provider: String?
        var outcome: String?
        var caller: Int64? = 12_025_551_000
        var brand: String?
        /// Whether the brand is one of the directory; false for the name that a signer wrote.
        var hasBrandID = true
        var direction = 1
        var continuedAs: String?
        /// The facts of the verdict, whose bits 1 to 3 have the attestation.
        var trust: Int64?
        var status: Int64?
        var seconds: Int64?
    }

    private func reader(_ calls: [Call]) throws -> LedgerReader {
        let database = try DatabaseQueue()
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE call (id INTEGER PRIMARY KEY, invite_at INTEGER, direction INTEGER, caller INTEGER,
                        brand_id TEXT, brand_name TEXT, outcome TEXT, continued_as TEXT, status INTEGER,
                        answered_at INTEGER, ended_at INTEGER, evidence INTEGER);
                    CREATE TABLE call_signature (call INTEGER PRIMARY KEY, provider TEXT, trust INTEGER);
                    CREATE TABLE adopted_call (call INTEGER);
                    """)
            for call in calls.sorted(by: { $0.daysAgo > $1.daysAgo }) {
                try database.execute(
                    sql: """
                        INSERT INTO call (invite_at, direction, caller, brand_id, brand_name, outcome, continued_as,
                            status, answered_at, ended_at)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        (Self.now - call.daysAgo * Self.day) * 1_000_000, call.direction, call.caller,
                        call.hasBrandID ? call.brand.map { "id of \($0)" } : nil, call.brand, call.outcome,
                        call.continuedAs, call.status,
                        call.seconds.map { _ in Int64(1_000_000) }, call.seconds.map { ($0 + 1) * 1_000_000 },
                    ])
                try database.execute(
                    sql: "INSERT INTO call_signature VALUES (last_insert_rowid(), ?, ?)",
                    arguments: [call.provider, call.trust])
            }
        }
        return LedgerReader(database)
    }

    @Test func `inbound signed calls of the span are counted by signer and outcome`() throws {
        let reader = try reader([
            Call(daysAgo: 1, provider: "123A", outcome: "ANSWERED"),
            Call(daysAgo: 2, provider: "123A", outcome: "ANSWERED"),
            Call(daysAgo: 29, provider: "123A", outcome: "MISSED"), Call(daysAgo: 0, provider: "123A", outcome: nil),
            Call(daysAgo: 3, provider: "567B", outcome: "REJECTED"),
            Call(daysAgo: 31, provider: "567B", outcome: "MISSED"),
            Call(daysAgo: 1, provider: nil, outcome: "MISSED"),
            Call(daysAgo: 1, provider: "567B", outcome: "MISSED", direction: 2),
            Call(daysAgo: 1, provider: "567B", outcome: "MISSED", continuedAs: "other"),
        ])
        let found = try reader.callsOfProviders(since: Self.now - 30 * Self.day)
        #expect(
            found == [
                ProviderCalls(provider: "123A", outcomes: ["ANSWERED": 2, "MISSED": 1], total: 4),
                ProviderCalls(provider: "567B", outcomes: ["REJECTED": 1], total: 1),
            ])
    }

    /// Herald gets no complaints. These are the signs that a callee did not want a call (RFC 8197, RFC 8688).
    @Test func `a signer has its attestations, short calls and unwanted ones`() throws {
        func call(_ outcome: String, _ trust: Int64, status: Int64? = nil, seconds: Int64? = nil) -> Call {
            Call(daysAgo: 1, provider: "123A", outcome: outcome, trust: trust, status: status, seconds: seconds)
        }
        let reader = try reader([
            call("ANSWERED", 0b0011, seconds: 5), call("ANSWERED", 0b0101, seconds: 6),
            call("ANSWERED", 0b0111, seconds: 0), call("ANSWERED", 0b1_0001_0011, seconds: 600),
            call("REJECTED", 0b0101, status: 607), call("REJECTED", 0b1001, status: 603),
            call("BLOCKED", 0b0111, status: 608), call("MISSED", 0b0011, seconds: nil),
        ])
        let found = try reader.callsOfProviders(since: Self.now - 30 * Self.day)
        #expect(
            found == [
                ProviderCalls(
                    provider: "123A", outcomes: ["ANSWERED": 4, "REJECTED": 2, "BLOCKED": 1, "MISSED": 1], total: 8,
                    attestations: [3, 2, 2], short: 2, unwanted: 1)
            ])
    }

    @Test func `a signer is new to a brand's number if another one signed it before`() throws {
        let reader = try reader([
            Call(daysAgo: 20, provider: "123A", brand: "Acme"), Call(daysAgo: 2, provider: "567B"),
            Call(daysAgo: 1, provider: "567B"),
            // The first signer of a number is not new, nor is one beyond the seven days.
            Call(daysAgo: 3, provider: "123A", caller: 12_025_551_001, brand: "Bolt"),
            Call(daysAgo: 20, provider: "123A", caller: 12_025_551_002, brand: "Core"),
            Call(daysAgo: 8, provider: "567B", caller: 12_025_551_002, brand: "Core"),
            // A number without a brand, and a withheld one.
            Call(daysAgo: 20, provider: "123A", caller: 12_025_551_003),
            Call(daysAgo: 1, provider: "567B", caller: 12_025_551_003),
            Call(daysAgo: 20, provider: "123A", caller: nil), Call(daysAgo: 1, provider: "567B", caller: nil),
        ])
        let found = try reader.providersOfBrands(newSince: Self.now - 7 * Self.day, since: Self.now - 30 * Self.day)
        #expect(
            found == [
                NewProvider(
                    provider: "567B", brand: "Acme", caller: "+12025551000",
                    firstAt: (Self.now - 2 * Self.day) * 1_000_000)
            ])
    }

    /// Any signer can write any name: a token makes no brand, and no notice about one.
    @Test func `a signed name is no brand`() throws {
        var reader = try reader([
            Call(daysAgo: 20, provider: "123A", brand: "Acme", hasBrandID: false),
            Call(daysAgo: 1, provider: "567B", brand: "Acme", hasBrandID: false),
        ])
        #expect(try reader.providersOfBrands(newSince: Self.now - 7 * Self.day, since: 0).isEmpty)
        // The brand of the directory has its own name in the notice.
        reader = try self.reader([
            Call(daysAgo: 20, provider: "123A", brand: "Acme"),
            Call(daysAgo: 1, provider: "567B", brand: "Zenith Bank", hasBrandID: false),
        ])
        let found = try reader.providersOfBrands(newSince: Self.now - 7 * Self.day, since: 0)
        #expect(found.map(\.brand) == ["Acme"] && found.map(\.provider) == ["567B"])
    }

    @Test func `a ledger without calls has no signers`() throws {
        let reader = try reader([])
        #expect(try reader.callsOfProviders(since: 0).isEmpty)
        #expect(try reader.providersOfBrands(newSince: 0, since: 0).isEmpty)
    }
}
