// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import NIOCore
import Testing

@testable import GatewaySync

@Suite("A sync response, read while it comes in")
struct SyncIntakeTests {
    private static let start = #"{"success":true,"synced_at":"c","#

    /// Feeds a body in pieces of a size and ends it.
    private func read(
        _ body: String, into intake: MemoryIntake = MemoryIntake(), pieces: Int = .max, limit: Int = 1 << 30
    ) async throws -> (response: ReceivedSync, tally: SyncTally) {
        var records = SyncIntake(into: intake, maxBody: limit)
        var rest = Array(body.utf8)[...]
        while !rest.isEmpty {
            try await records.take(ByteBuffer(bytes: rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        let response = try await records.finish()
        return (response, records.tally)
    }

    private func item(_ number: String, active: Bool? = nil, at time: String = "2026-01-01T00:00:00Z") -> String {
        let flag = active.map { #","is_active":\#($0)"# } ?? ""
        return #"{"phone_number_e164":"\#(number)","brand_name":"A","brand_id":"b","updated_at":"\#(time)"\#(flag)}"#
    }

    @Test func `active items are written, inactive ones removed, the rest counted`() async throws {
        let intake = MemoryIntake()
        let items = [
            item("+61412000001"), item("+61412000002", active: true), item("+61412000003", active: false),
            item("nobody"), item("nobody", active: false),
        ]
        let (_, tally) = try await read(
            Self.start + #""branding":["# + items.joined(separator: ",") + "]}", into: intake)
        #expect(intake.records.map(\.number.description) == ["+61412000001", "+61412000002"])
        #expect(intake.inactive.map(\.number.description) == ["+61412000003"])
        #expect(tally.received == 5)
        #expect(tally.usable == 2)
        #expect(tally.inactive == 1)
        #expect(tally.rejected == ["no valid number": 2])
    }

    @Test(arguments: [1, 2, 3, 1000])
    func `a byte order mark at the start is passed over, RFC 8259 §8.1`(pieces: Int) async throws {
        let intake = MemoryIntake()
        let body = Self.start + #""branding":["# + item("+61412000001") + "]}"
        let (response, _) = try await read("\u{FEFF}" + body, into: intake, pieces: pieces)
        #expect(intake.records.map(\.number.description) == ["+61412000001"])
        #expect(response.syncedAt == "c")
    }

    @Test(arguments: ["\u{FEFF}\u{FEFF}", "{\u{FEFF}", "\u{FEFE}", "x"])
    func `no other text before or in the object is passed over`(start: String) async throws {
        let body = Self.start.dropFirst(start.hasPrefix("{") ? 1 : 0) + #""branding":[]}"#
        await #expect(throws: DirectoryError.self) { try await read(start + body) }
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1000])
    func `how the network cuts it makes no difference`(pieces: Int) async throws {
        let odd =
            #"{"phone_number_e164":"+61412000001","brand_name":"a\"]},{\\","brand_id":"[\u007d","more":{"x":[1,{}]}}"#
        let body =
            " {\n\"config\" : {\"account_status\":\"trial\",\"debug_ui\":{\"enabled\":false}},\t\"n\":null,"
            + #""branding" : [ "# + odd + " , 5, " + item("+61412000002") + " ] ,\"success\":true,"
            + #""synced_at":"c,}]", "count": 3 }"# + "\r\n"
        let intake = MemoryIntake()
        let (response, tally) = try await read(body, into: intake, pieces: pieces)
        #expect(response.syncedAt == "c,}]")
        #expect(response.config?.accountStatus == "trial")
        #expect(intake.records.map(\.name) == ["a\"]},{\\", "A"])
        #expect(intake.records.map(\.brandID) == ["[}", "b"])
        #expect(tally.rejected == ["no branding record": 1])
    }

    @Test(arguments: [
        ("", "broken or incomplete JSON"), ("{", "broken or incomplete JSON"), ("[]", "not a JSON object"),
        ("null", "not a JSON object"), ("{}", "branding is missing"), ("{},", "not a JSON object"),
        (start + #""branding":[]"#, "incomplete"), (start + #""branding":[{}"#, "incomplete"),
        (start + #""branding":[],}"#, "not a JSON object"), (start + #""branding":[,]}"#, "not a JSON object"),
        (start + #""branding":[{},]}"#, "not a JSON object"), (start + #""branding":[{}{}]}"#, "broken JSON"),
        (start + #""branding":{}}"#, "branding is missing"), (start + #""branding":[]}x"#, "not a JSON object"),
        (start + #""branding":[],"branding":[]}"#, "twice"), (start + #""success":true,"branding":[]}"#, "twice"),
        (start + #""branding":[{"phone_number_e164":"+61412000001" "brand_name":"x"}]}"#, "broken JSON"),
        (start + #""branding":[}]}"#, "not a JSON object"),
        (#"{"success":"False","synced_at":"c","branding":[]}"#, "success is false"),
        (#"{"success":false,"synced_at":"c","branding":[]}"#, "success is false"),
        (#"{"success":true,"synced_at":"","branding":[]}"#, "synced_at"),
        (#"{"success":true,"branding":[]}"#, "synced_at"),
        (#"{"success":true,"synced_at":"c","config":5,"branding":[]}"#, "config"),
        (start + #""branding":[\#(String(repeating: "[", count: 100))]}"#, "deep"),
        (start + #""branding":["\#(String(repeating: "x", count: 70_000))"]}"#, "longer"),
        (start + #""pad":"\#(String(repeating: "x", count: 300_000))","branding":[]}"#, "longer"),
        (start + #""\#(String(repeating: "k", count: 300))":1,"branding":[]}"#, "longer"),
    ])
    func `what is not the contract's response is refused whole`(body: String, reason: String) async throws {
        for pieces in [1, Int.max] {
            let error = await #expect(throws: DirectoryError.self) { try await read(body, pieces: pieces) }
            guard case .badResponse(let text) = error else { Issue.record("\(String(describing: error))"); return }
            #expect(text.contains(reason), "\(text)")
        }
    }

    @Test func `records go on in batches, so that memory does not grow with the response`() async throws {
        let intake = MemoryIntake()
        let items = (0..<5000).map { item("+6141200\($0 + 1000)") }.joined(separator: ",")
        let (_, tally) = try await read(Self.start + #""branding":["# + items + "]}", into: intake)
        #expect(tally.usable == 5000)
        #expect(intake.batches.reduce(0, +) == 5000)
        #expect(intake.batches.max() ?? 0 < 2000)
    }

    @Test func `a body above the limit is refused before it is read to its end`() async throws {
        let intake = MemoryIntake()
        await #expect(throws: DirectoryError.badResponse(reason: "it is larger than the limit of 100 bytes")) {
            try await read(Self.start + String(repeating: " ", count: 200), into: intake, pieces: 50, limit: 100)
        }
    }
}
