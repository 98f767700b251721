// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PushSending

@Suite("The amount of text that leaves the server")
struct PrivacyTests {
    private static let tag = "clx7g8h9i0j1k2l3m4n5o6p7"
    private static let link = "herald://brand/clx8h9i0j1k2l3m4n5o6p7q8"

    private static func payloads(_ message: PushMessage) throws -> [String] {
        let web = try PushJSON.bytes(WebPushPayload(message))
        let apns = try PushJSON.bytes(APNsPayload(message))
        return [web, apns].map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a silent message has its tag and its deep link alone`() throws {
        let payloads = try Self.payloads(missedCall { $0.privacy = .silent })
        let data = #""data":{"deep_link":"\#(Self.link)","tag":"\#(Self.tag)"}"#
        #expect(payloads == ["{\(data)}", #"{"aps":{"content-available":1},\#(data)}"#])
    }

    @Test func `a message with the name has no body`() throws {
        for payload in try Self.payloads(missedCall { $0.privacy = .name }) {
            #expect(payload.contains("Harbour Dental") && !payload.contains("appointment") && !payload.contains("body"))
        }
    }

    @Test(arguments: [
        (PushKind.missedCall, "MISSED_CALL"), (.callReturned, "CALL_RETURNED"), (.brandChanged, "BRAND_CHANGED"),
        (.test, "TEST"),
    ])
    func `each kind has its category`(kind: PushKind, category: String) throws {
        let payload = try Self.payloads(missedCall { $0.kind = kind })[1]
        #expect(payload.contains(#""category":"\#(category)""#) && payload.contains(#""type":"\#(kind.rawValue)""#))
    }

    @Test func `a message without a brand is grouped by its call`() throws {
        let payloads = try Self.payloads(missedCall { ($0.brandID, $0.webURL) = (nil, nil) })
        #expect(payloads[1].contains(#""thread-id":"\#(Self.tag)""#) && !payloads[1].contains("web_url"))
    }

    @Test func `long texts are cut between characters and fit every service`() throws {
        let family = "👨‍👩‍👧‍👦"
        let message = missedCall {
            $0.title = String(repeating: family, count: 100)
            $0.body = String(repeating: "é", count: 5000)
        }
        let text = try #require(PushText(message))
        #expect(text.title.utf8.count <= 256 && text.title.hasSuffix(family + "…"))
        #expect(text.body?.utf8.count ?? 0 <= 1024 && text.body?.hasSuffix("é…") == true)
        for payload in try Self.payloads(message) { #expect(payload.utf8.count <= WebPushEncryption.mostOfMessage) }
    }
}
