// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GatewayStore
import TestFixtures
import Testing

@testable import GatewayOperator

// The pages of a gateway with customers: each row and each preview shows whose it is.

extension GatewayPagesTests {
    @Test func `customers have a page with brands, events and calls, and a list of their calls`() async throws {
        var content = FixedPages.Content()
        content.customers = [
            .init(
                name: "acme & co", numbers: 12, brands: 3, syncAge: 61, outbox: .init(waiting: 4), calls: 8, branded: 6),
            .init(
                name: "beta", numbers: 12, brands: 3, sharesAccountOf: "acme & co", problem: "the key is <refused>",
                outbox: .init(refused: 3)),
        ]
        let status = FixedStatus()
        status.change { $0.customers = .init(count: 2, accounts: 1, brandSets: 1, memory: 4_000, troubled: 1) }
        let source = FixedPages(content, status: status)
        try await run(source) { person in
            #expect(try await person.get("/").body.contains("<a href=\"/customers\">2, 1 set of brands</a>"))
            #expect(try await person.get("/").body.contains("1 of 2 customers has a problem"))
            #expect(try await person.get("/calls").body.contains("<li><a href=\"/customers\">Customers</a></li>"))
            let page = try await person.get("/customers").body
            for text in [
                "<a href=\"/calls?customer=acme%20%26%20co\">acme &amp; co</a>", "The key is &lt;refused&gt;.", "75 %",
                "that of acme &amp; co", "never", "3 refused", "<a href=\"/preview?customer=acme%20%26%20co\"",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            let (problem, other) = (page.range(of: ">beta</a>"), page.range(of: ">acme &amp; co</a>"))
            #expect(try #require(problem).lowerBound < #require(other).lowerBound, "problems come first")
            let calls = try await person.get("/calls?customer=acme%20%26%20co").body
            #expect(calls.contains("<option value=\"acme &amp; co\" selected>"))
        }
        #expect(source.searches.last?.customer == "acme & co")
    }

    @Test func `a gateway without customers shows none`() async throws {
        try await run(FixedPages()) { person in
            let (first, calls) = (try await person.get("/").body, try await person.get("/calls").body)
            #expect(!first.contains("/customers") && !calls.contains("name=\"customer\""))
            let page = try await person.get("/customers").body
            #expect(page.contains("No customers are configured"))
        }
    }

    @Test func `the list of calls says whose each call is, also after the customer was removed`() async throws {
        var content = FixedPages.Content()
        content.calls = [Self.call(.number(61_255_501_001), customer: "gone"), Self.call(.withheld)]
        try await run(FixedPages(content)) { person in
            let page = try await person.get("/calls?customer=gone").body
            #expect(page.contains("<th scope=\"col\">Trunk, customer</th>"))
            let cell = "<td data-label=\"Trunk, customer\"><span>carrier"
            #expect(page.contains(cell + ", gone</span></td>"))
            #expect(page.contains(cell + "</span></td>"))
            #expect(page.contains("<option value=\"gone\" selected>gone (no customer now)</option>"))
        }
    }

    @Test(arguments: [true, false])
    func `a preview is of one customer, and of none only where calls without one can have a brand`(hasUsual: Bool)
        async throws
    {
        var content = FixedPages.Content()
        content.customers = [.init(name: "acme & co", numbers: 1, brands: 1)]
        content.hasUsualBrands = hasUsual
        content.preview = RingPreview(
            number: nil, trunk: "carrier", customer: "acme & co", conditions: "", decision: "no_match", card: nil,
            before: [], after: [])
        let source = FixedPages(content)
        try await run(source) { person in
            let page = try await person.get("/preview?number=1&customer=acme+%26+co").body
            #expect(page.contains("<option value=\"\">none</option>") == hasUsual)
            #expect(page.contains("<option value=\"acme &amp; co\" selected>"))
            #expect(page.contains("<td data-label=\"Customer\">acme &amp; co</td>"))
        }
        #expect(source.questions.map(\.customer) == ["acme & co"])
    }

    @Test func `a person syncs one customer from its row, and reads the result beside its name`() async throws {
        let source = FixedPages()
        try await run(source) { person in
            let cookie = try await person.cookie()
            let token = try await person.token(cookie)
            #expect(try await person.post("/sync", "token=x&customer=acme", cookie).hasPrefix("HTTP/1.1 403"))
            let head = try await person.post("/sync", "token=\(token)&customer=acme+%26+co", cookie)
            #expect(head.hasPrefix("HTTP/1.1 303") && head.lowercased().contains("location: /customers\r"), "\(head)")
            #expect(try await person.get("/customers", cookie).body.contains("acme &amp; co: Synced: 3 written"))
        }
        #expect(source.syncs == ["acme & co"])
    }
}
