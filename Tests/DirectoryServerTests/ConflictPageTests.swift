// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import TestFixtures
import Testing
import WebPages

@testable import DirectoryServer
@testable import DirectoryStore

/// Two persons with one form; `BrandPageTests` has the form of a brand with a picture.
@Suite("Conflicts on pages", .timeLimit(.minutes(8)), .bothEngines)
struct ConflictPageTests {
    private static let account = "/accounts/main"
    private static let remove = "/accounts/main/numbers/remove"

    @Test func `both values of a brand are shown, and either can be taken`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            let (path, save) = ("/accounts/main/brand?id=brand-1", "/accounts/main/brand")
            let (first, second) = (try await visitor.get(path), try await visitor.get(path))
            #expect(try await visitor.submit(first, save, ["brand_name": "<b>First</b>"]).status == 303)
            let refused = try await visitor.submit(second, save, ["brand_name": "Second"])
            #expect(refused.status == 409 && refused.text.contains("Another person has changed this brand"))
            for text in ["Save mine", "Take theirs", ">Second<", "&lt;b&gt;First&lt;/b&gt;", "href=\"\(path)\""] {
                #expect(refused.text.contains(text), "\(text)")
            }
            #expect(!refused.text.contains("<b>First"))
            let theirs = try await visitor.get(path)
            #expect(PageFields(theirs.text, action: save)?["brand_name"] == "<b>First</b>")
            #expect(try await visitor.submit(refused, save).status == 303)
            #expect(try BrandList(visitor.directory.database).brand("brand-1").name == "Second")
        }
    }

    @Test func `both values of an account are shown, and either can be taken`() async throws {
        try await PageVisitor.run { visitor in
            let accounts = AccountList(visitor.directory.database)
            let (first, second) = (try await visitor.get(Self.account), try await visitor.get(Self.account))
            #expect(try await visitor.submit(first, Self.account, ["mode": "testing", "cap": "5"]).status == 303)
            let refused = try await visitor.submit(second, Self.account, ["status": "trial", "cap": "7"])
            #expect(refused.status == 409 && refused.text.contains("Another person has changed this account"))
            #expect(refused.text.contains("Save mine") && refused.text.contains("Take theirs"))
            #expect(refused.problem("cap") == "Saved meanwhile: 5")
            let kept = try accounts.summary(of: .first, now: 0)
            #expect(kept.mode == "testing" && kept.cap == 5 && kept.status == "active")
            #expect(try await visitor.submit(refused, Self.account).status == 303)
            let mine = try accounts.summary(of: .first, now: 0)
            #expect(mine.mode == "live" && mine.cap == 7 && mine.status == "trial")
        }
    }

    @Test func `an account that was changed is not removed unseen`() async throws {
        try await PageVisitor.run { visitor in
            let path = Self.account + "/remove"
            let asked = try await visitor.get(path)
            try visitor.directory.change { $0.status = "trial" }
            let refused = try await visitor.submit(asked, path)
            #expect(refused.status == 409 && refused.text.contains("Another person has changed this account"))
            #expect(try AccountList(visitor.directory.database).summary(of: .first, now: 0).status == "trial")
            #expect(try await visitor.submit(refused, path).status == 303)
            #expect(try AccountList(visitor.directory.database).summary(of: .first, now: 0).status == "closed")
        }
    }

    @Test func `a brand that was changed is not removed unseen`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            let (path, remove) = ("/accounts/main/brand/remove?id=brand-1", "/accounts/main/brand/remove")
            let asked = try await visitor.get(path)
            let brands = BrandList(visitor.directory.database)
            var change = BrandList.Change()
            change.name = "Harbour Dental"
            _ = try brands.change("brand-1", change, now: visitor.directory.time.now)
            let refused = try await visitor.submit(asked, remove)
            #expect(refused.status == 409 && refused.text.contains("Another person has changed this brand"))
            #expect(refused.text.contains("Remove Harbour Dental"))
            #expect(try brands.brand("brand-1").numbers == 1)
            #expect(try await visitor.submit(refused, remove).status == 303)
            #expect(try brands.brand("brand-1").numbers == 0)
        }
    }

    @Test func `a number that another person has given to another brand is not removed unseen`() async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156", name: "Acme")
            _ = try await visitor.post("/numbers")
            let page = try await visitor.get("/accounts/main/numbers")
            var change = BrandList.Change()
            change.name = "Harbour Dental"
            let database = visitor.directory.database
            try BrandList(database).create(id: "harbour", change, now: visitor.directory.time.now)
            let numbers = BrandNumbers(database)
            let row = try #require(try numbers.page(after: nil, limit: 1).first)
            try numbers.set(
                try #require(E164Number(row.number)), brandID: "harbour", reason: nil, now: visitor.directory.time.now)
            let refused = try await visitor.submit(page, Self.remove)
            #expect(refused.status == 409 && refused.text.contains("Another person has changed this number"))
            #expect(refused.text.contains("Harbour Dental") && refused.text.contains("Remove it all the same"))
            #expect(try numbers.page(after: nil, limit: 1).map(\.state) == [.active])
            #expect(try await visitor.submit(refused, Self.remove).status == 303)
            #expect(try numbers.page(after: nil, limit: 1).map(\.state) == [.inactive])
        }
    }

    @Test(arguments: [account, account + "/remove", remove])
    func `a form without a version changes nothing`(path: String) async throws {
        try await PageVisitor.run { visitor in
            try visitor.directory.put("+61491570156")
            let refused = try await visitor.post(
                path,
                [
                    "number": "+61491570156", "id": "brand-1", "status": "suspended", "mode": "testing", "cap": "",
                    "included": "0",
                ])
            #expect(refused.status == 409)
            let account = try AccountList(visitor.directory.database).summary(of: .first, now: 0)
            #expect(account.status == "active" && account.mode == "live")
            #expect(try await visitor.directory.sync().branding.count == 1)
        }
    }
}
