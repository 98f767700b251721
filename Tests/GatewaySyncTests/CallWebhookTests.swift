// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GatewaySync
import TestFixtures
import Testing

@Suite("Webhook of ended calls")
struct CallWebhookTests {
    @Test func `a call arrives signed and named`() async throws {
        let peer = try FaultyPeer { _, _ in .status(204) }
        let webhook = CallWebhook(url: "http://127.0.0.1:\(peer.port)/calls", secret: "s3cret")
        let body = Data(#"{"call_id":"a-b"}"#.utf8)
        try await webhook.send(body, callID: "a-b", now: 1_767_225_600)
        let request = try #require(peer.requests.first)
        #expect(request.method == "POST")
        #expect(request.path == "/calls")
        #expect(request.body == #"{"call_id":"a-b"}"#)
        #expect(request.headers["idempotency-key"] == "a-b")
        #expect(request.headers["x-herald-timestamp"] == "1767225600")
        let expected = HMAC<SHA256>.authenticationCode(
            for: Data("1767225600.".utf8) + body, using: SymmetricKey(data: Data("s3cret".utf8)))
        let hex = expected.map { String(format: "%02x", $0) }.joined()
        #expect(request.headers["x-herald-signature"] == "sha256=" + hex)
        await webhook.shutdown()
    }

    @Test(arguments: [
        FaultyPeer.Response.status(500), .status(302, headers: ["Location": "/x"]), .raw("rubbish"), .raw(""),
    ])
    func `anything but a 2xx is not taken, and the error keeps the secret`(response: FaultyPeer.Response) async throws {
        let peer = try FaultyPeer { _, _ in response }
        let webhook = CallWebhook(url: "http://127.0.0.1:\(peer.port)/calls", secret: "s3cret", timeout: .seconds(2))
        let error = await #expect(throws: CallWebhookError.self) {
            try await webhook.send(Data("{}".utf8), callID: "a", now: 0)
        }
        #expect(error?.description.contains("s3cret") == false)
        #expect(peer.requests.count <= 1 || "\(response)".contains("raw"))
        await webhook.shutdown()
    }
}
