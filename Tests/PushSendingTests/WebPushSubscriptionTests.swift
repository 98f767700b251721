// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

@testable import PushSending

@Suite("Subscriptions that browsers hand in")
struct WebPushSubscriptionTests {
    private static let browser = Browser()
    private static let endpoint = "https://updates.push.services.mozilla.com/wpush/v2/gAAAAABh"

    @Test(arguments: [
        endpoint, "https://fcm.googleapis.com/fcm/send/dpH5lCsTSSM:APA91bHqjZxM0VImWWqDRN7U0a3AycjUf4O",
        "https://web.push.apple.com/QGuQyavXutnMH9kZ",
        "https://wns2-par02p.notify.windows.com/w/?token=BQYAAADxUFG%2bG",
    ])
    func `the JSON of a browser is a target`(endpoint: String) throws {
        let target = try WebPushSubscription.parse(Array(Self.browser.json(endpoint).utf8), at: present)
        #expect(target == .web(endpoint: endpoint, p256dh: Self.browser.publicKey, auth: Self.browser.auth))
        #expect("\(target)" == "<redacted>")
    }

    /// A subscription with one value changed.
    private static func json(
        endpoint: String = endpoint, p256dh: String = base64url(browser.publicKey),
        auth: String = base64url(browser.auth), end: String = "null"
    ) -> String {
        #"{"endpoint":"\#(endpoint)","expirationTime":\#(end),"keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}"#
    }

    private static var offCurve: [UInt8] { [4] + [UInt8](repeating: 1, count: 64) }
    private static var compressed: [UInt8] { [UInt8](browser.key.publicKey.compressedRepresentation) }

    @Test(
        arguments: [
            ("", nil), ("[]", nil), ("{}", nil), (#"{"endpoint":"https://a.example/"}"#, nil),
            (json(endpoint: "https://a.example/" + String(repeating: "a", count: 5000)), nil),
            (json(endpoint: "https://a.example/" + String(repeating: "a", count: 2100)), "endpoint"),
            (json(endpoint: "ftp://a.example/"), "endpoint"), (json(endpoint: "javascript:alert(1)"), "endpoint"),
            (json(endpoint: "http://a.example/x"), "endpoint"), (json(endpoint: "http://127.0.0.1/x"), "endpoint"),
            (json(endpoint: "https://user@a.example/x"), "endpoint"),
            (json(endpoint: "https://a.example/#x"), "endpoint"),
            (json(endpoint: "https://a.example/ x"), "endpoint"), (json(endpoint: "https://localhost/x"), "endpoint"),
            (json(endpoint: "https://10.0.0.1/x"), "endpoint"), (json(endpoint: "https://[::1]/x"), "endpoint"),
            (json(endpoint: "https://169.254.169.254/latest"), "endpoint"),
            (json(p256dh: "!!!"), "p256dh"), (json(p256dh: base64url(browser.publicKey) + "="), "p256dh"),
            (json(p256dh: ""), "p256dh"), (json(p256dh: base64url(offCurve)), "p256dh"),
            (json(p256dh: base64url(compressed)), "p256dh"),
            (json(p256dh: base64url(browser.publicKey.dropLast())), "p256dh"),
            (json(auth: base64url(browser.auth.dropLast())), "auth"),
            (json(auth: base64url(browser.auth + [0])), "auth"),
            (json(auth: "a+/="), "auth"), (json(auth: ""), "auth"), (json(auth: "AAAAAAAAAAAAAAAAAAAAAB"), "auth"),
            (json(end: "1767225600000"), "expirationTime"), (json(end: "0"), "expirationTime"),
        ] as [(String, String?)])
    func `any other is refused, and the reason has no value of it`(json: String, field: String?) {
        let error = #expect(throws: WebPushSubscriptionError.self) {
            try WebPushSubscription.parse(Array(json.utf8), at: present)
        }
        #expect(error?.field == field, "\(String(describing: error))")
        #expect(error?.description.contains(base64url(Self.browser.auth)) == false)
    }

    @Test func `a push service of one's own network needs permission`() throws {
        for endpoint in ["https://10.0.0.1/x", "http://127.0.0.1:8080/x", "http://[::1]/x", "http://localhost:1/x"] {
            let json = Array(Self.json(endpoint: endpoint).utf8)
            #expect(throws: WebPushSubscriptionError.self) { try WebPushSubscription.parse(json) }
            _ = try WebPushSubscription.parse(json, allowPrivateAddresses: true)
        }
        #expect(throws: WebPushSubscriptionError.self) {
            try WebPushSubscription.parse(
                Array(Self.json(endpoint: "http://10.0.0.1/x").utf8), allowPrivateAddresses: true)
        }
        _ = try WebPushSubscription.parse(Array(Self.json(end: "1767225601000").utf8), at: present)
    }
}
