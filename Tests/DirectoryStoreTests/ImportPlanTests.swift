// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import TestFixtures
import Testing

@testable import DirectoryStore

@Suite("The plan of an import", .timeLimit(.minutes(8)), .bothEngines)
struct ImportPlanTests {
    private let folder: TemporaryFolder
    private let database: DirectoryDatabase

    init() throws {
        folder = TemporaryFolder()
        database = try Engine.open(folder.path)
    }

    private func run(_ rows: String, _ edit: (inout BrandImport.Options) -> Void) throws -> BrandImport.Result {
        var options = BrandImport.Options()
        edit(&options)
        return try BrandImport(database) { E164Number($0) }.run(
            Array("number,brand_name,logo_url,call_reason,brand_id\n\(rows)".utf8), options, now: 5)
    }

    private func plan(_ rows: String, replaces: Bool = false) throws -> ImportPlan {
        let result = try run(rows) { ($0.isTrial, $0.plans, $0.replaces) = (true, true, replaces) }
        return try #require(result.plan)
    }

    @Test func `it has each change with the values before and after`() throws {
        _ = try run("+61491570156,Acme,,,a\n+61491570157,Dental,,,d\n+61491570158,Same,,,s\n") { _ in }
        let plan = try plan(
            "+61491570156,Acme Bank,,Hi,a\n+61491570158,Same,,,s\n+61491570159,New,,,n\n", replaces: true)
        #expect(plan.added.map(\.number) == ["+61491570159"] && plan.added.first?.before == nil)
        #expect(plan.changed.map(\.before?.name) == ["Acme"] && plan.changed.map(\.after?.name) == ["Acme Bank"])
        #expect(plan.changed.first?.after?.reason == "Hi")
        #expect(plan.removed.map(\.number) == ["+61491570157"] && plan.removed.first?.after == nil)
        #expect(plan.brandCount == 2)
    }

    @Test func `its counts are those of the import`() throws {
        _ = try run((0..<500).map { "+6149157\(1000 + $0),A,,,a\n" }.joined()) { _ in }
        let rows = (250..<900).map { "+6149157\(1000 + $0),A,,\($0 < 300 ? "x" : ""),a\n" }.joined()
        let plan = try plan(rows, replaces: true)
        #expect((plan.addedCount, plan.changedCount, plan.removedCount) == (400, 50, 250))
        #expect(plan.added.count == ImportPlan.kept)
        let done = try run(rows) { ($0.replaces, $0.expectedPlan) = (true, plan.digest) }
        #expect(done.imported == 450 && done.deactivated == 250)
    }

    @Test func `an import with another plan is refused and changes nothing`() throws {
        let rows = "+61491570156,Acme,,,a\n"
        let before = try plan(rows)
        _ = try run("+61491570156,Meanwhile,,,m\n") { _ in }
        #expect(throws: BrandImportError.moved) { try run(rows) { $0.expectedPlan = before.digest } }
        #expect(try BrandEntries(database).active(limit: 9).map(\.brandName) == ["Meanwhile"])
        let now = try plan(rows)
        #expect(try run(rows) { $0.expectedPlan = now.digest }.isWritten)
    }

    @Test func `a change elsewhere keeps the plan, a change of its brand's owner does not`() throws {
        _ = try run("+61491570156,Acme,,,a\n") { _ in }
        let before = try plan("+61491570156,Acme Bank,,,a\n")
        _ = try run("+61491570199,Other,,,o\n") { _ in }
        #expect(try plan("+61491570156,Acme Bank,,,a\n").digest == before.digest)
        var change = BrandList.Change()
        change.owner = .suspended
        _ = try BrandList(database).change("a", change, now: 6)
        #expect(try plan("+61491570156,Acme Bank,,,a\n").digest != before.digest)
    }

    @Test func `a number out of use counts as added`() throws {
        _ = try run("+61491570156,Acme,,,a\n") { _ in }
        _ = try BrandNumbers(database).deactivate([try #require(E164Number("+61491570156"))], now: 6)
        #expect(try plan("+61491570156,Acme,,,a\n").addedCount == 1)
    }

    @Test func `numbers are found by their first digits, whatever their length`() throws {
        _ = try run("+61491570156,A,,,a\n+6149157,B,,,b\n+614915701569,C,,,c\n+61491670156,D,,,d\n") { _ in }
        let numbers = BrandNumbers(database)
        #expect(try numbers.page(beginningWith: "6149157", limit: 9).map(\.name) == ["B", "A", "C"])
        #expect(try numbers.page(beginningWith: "6149157", limit: 1).map(\.name) == ["B"])
        #expect(try numbers.page(beginningWith: "0", limit: 9).isEmpty)
        #expect(try numbers.page(beginningWith: "x", limit: 9).isEmpty)
    }
}
