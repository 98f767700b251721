// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import Testing

@testable import GatewaySync

@Suite("What of an answer is taken in")
struct SyncIntakeTests {
    private func items(_ json: String...) throws -> [BrandingItem] {
        try JSONDecoder().decode([BrandingItem].self, from: Data("[\(json.joined(separator: ","))]".utf8))
    }

    private func item(_ number: String, active: Bool? = nil, at time: String = "2026-01-01T00:00:00Z") -> String {
        let flag = active.map { #","is_active":\#($0)"# } ?? ""
        return #"{"phone_number_e164":"\#(number)","brand_name":"A","brand_id":"b","updated_at":"\#(time)"\#(flag)}"#
    }

    @Test func `active items are written, inactive ones removed, the rest counted`() throws {
        let intake = SyncIntake(
            try items(
                item("+61412000001"), item("+61412000002", active: true), item("+61412000003", active: false),
                item("nobody"), item("nobody", active: false)))
        #expect(intake.upserts.map(\.number.description) == ["+61412000001", "+61412000002"])
        #expect(intake.removals.map(\.description) == ["+61412000003"])
        #expect(intake.rejectedCount == 2)
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", true), ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", false),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", false),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:30:00Z", true),
    ])
    func `of an active and an inactive item for a number the newer counts`(
        inactive: String, active: String, stays: Bool
    ) throws {
        let pair = [item("+61412000001", active: false, at: inactive), item("+61412000001", at: active)]
        for order in [pair, pair.reversed()] {
            let intake = SyncIntake(try items(order[0], order[1]))
            #expect(intake.upserts.count == (stays ? 1 : 0))
            #expect(intake.removals.count == (stays ? 0 : 1))
        }
    }
}
