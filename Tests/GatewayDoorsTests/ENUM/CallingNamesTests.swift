// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayTesting
import Testing

@testable import GatewayDoors

@Suite("Calling names by the decision of calls")
struct CallingNamesTests {
    private static let branded = "+61255501301"

    private func record(_ names: CallingNames, _ number: String) throws -> CallingNameRecord? {
        names.find(try #require(E164Number(number))).record
    }

    private func name(_ text: String) throws -> CallingNameRecord { .name(try #require(CallingName(text))) }

    @Test func `a branded number has its display name, or the short name of the brand`() throws {
        let door = try NamesDoor()
        #expect(try record(CallingNames(door.names), Self.branded) == name("Harbour Dental"))
        let short = ["brand-1301": try #require(CallingName("HARBOUR")), "other": try #require(CallingName("X"))]
        #expect(try record(CallingNames(door.names, shortNames: short), Self.branded) == name("HARBOUR"))
    }

    /// As a miss by HTTP: the caller keeps the name that it has.
    @Test(arguments: [
        (BrandingGates(), false, "+61255501309"), (BrandingGates(capReached: true), false, branded),
        (BrandingGates(accountStatus: "closed"), false, branded), (BrandingGates(), true, branded),
    ]) func `any other number has none, or is unknown`(gates: BrandingGates, isEmpty: Bool, number: String) throws {
        let door = try NamesDoor(gates: gates, isEmpty: isEmpty)
        #expect(try record(CallingNames(door.names), number) == nil)
        #expect(try record(CallingNames(door.names, reportsUnknown: true), number) == .unavailable(.unknown))
    }

    @Test func `a brand in shadow has no record, and is counted as such`() throws {
        let door = try NamesDoor(brands: .shadow)
        let (branded, other) = (try #require(E164Number(Self.branded)), try #require(E164Number("+61255501309")))
        let names = CallingNames(door.names)
        #expect(names.find(branded) == FoundCallingName(nil, isInShadow: true))
        #expect(names.find(other) == FoundCallingName(nil))
        let unknown = CallingNames(door.names, reportsUnknown: true)
        #expect(unknown.find(branded) == FoundCallingName(.unavailable(.unknown), isInShadow: true))
    }

    @Test func `a name of another script has none without a short name`() throws {
        let door = try NamesDoor()
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 2, expectedCount: 1)
        builder.add(
            BrandRecord(
                number: try #require(E164Number(Self.branded)), name: "北京 Bank", brandID: "bank", logoURL: "",
                callReason: "", updatedAt: "2026-01-01T00:00:00Z"))
        door.branding.store(BrandingSnapshot(index: builder.finish(), gates: BrandingGates()))
        #expect(try record(CallingNames(door.names), Self.branded) == nil)
        let short = ["bank": try #require(CallingName("Beijing Bank"))]
        #expect(try record(CallingNames(door.names, shortNames: short), Self.branded) == name("Beijing Bank"))
    }

    @Test func `umlauts are written as the operator chooses`() throws {
        let door = try NamesDoor()
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 2, expectedCount: 1)
        builder.add(
            BrandRecord(
                number: try #require(E164Number(Self.branded)), name: "Bäckerei", brandID: "b", logoURL: "",
                callReason: "", updatedAt: "2026-01-01T00:00:00Z"))
        door.branding.store(BrandingSnapshot(index: builder.finish(), gates: BrandingGates()))
        #expect(try record(CallingNames(door.names), Self.branded) == name("Backerei"))
        #expect(try record(CallingNames(door.names, umlauts: .german), Self.branded) == name("Baeckerei"))
    }
}
