// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore
import GatewayTesting
import Testing

@testable import GatewayOperator

@Suite("Permanent links to calls")
struct CallLinksTests {
    private static let id = "00000000-0000-0001-0000-000000000002"

    @Test(arguments: [
        (id, "https://sbc.example/calls/" + id), ("x", nil), ("../../numbers", nil), ("", nil),
        (id + "?a=\"><script>", nil),
    ])
    func `a link has the id of a call and nothing else`(callID: String, link: String?) {
        #expect(CallLinks("https://sbc.example").link(callID) == link)
        #expect(CallLinks(nil).link(callID) == nil)
    }

    @Test(arguments: [(nil, true), ("north", true), ("south", false)])
    func `a call of another gateway has no page here`(node: String?, isOwn: Bool) {
        var call = CallStoryTextTests.call()
        call.node = node
        #expect((CallLinks("https://sbc.example", gateway: "north").linked(call).link != nil) == isOwn)
    }

    @Test func `a reload changes the links`() throws {
        let folder = try GatewayFolder()
        func configuration(_ admin: String) throws -> HeraldConfiguration {
            try folder.configuration(folder.sections.with("admin", admin))
        }
        let links = CallLinks(try configuration("{}"))
        #expect(links.link(Self.id) == nil)
        #expect(links.change(to: try configuration("{listen: 127.0.0.1:9471}")) == nil)
        let change = try #require(links.change(to: try configuration("{public_url: 'https://sbc.example/'}")))
        change()
        #expect(links.link(Self.id) == "https://sbc.example/calls/\(Self.id)")
        #expect(
            try folder.configuration(folder.sections.with("admin", "{public_url: 'https://a', enabled: false}"))
                .pagesURL == nil)
    }
}
