// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Crypto
package import Foundation
import NIOCore
import NIOHTTP1
import Primitives

/// Sends ended calls to the operator's own system, signed, one JSON object a request.
///
/// `X-Herald-Signature` is `sha256=` and the HMAC-SHA256, in hexadecimal, of `X-Herald-Timestamp`, a dot and the body.
/// `Idempotency-Key` is the call id; it identifies repetitions. Only a 2xx counts as delivered. Redirects are not
/// followed. Safe from any thread.
package final class CallWebhook: Sendable {
    private let url: String
    private let secret: Concealed<SymmetricKey>
    private let timeout: Duration
    /// The key of the configuration in errors.
    private let key: String
    private let http: HTTPClient

    package init(
        url: String, secret: String, timeout: Duration = .seconds(10), key: String = "outcomes.webhook"
    ) {
        self.key = key
        self.url = url
        self.secret = Concealed(SymmetricKey(data: Data(secret.utf8)))
        self.timeout = timeout
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = TimeAmount(timeout)
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends one call.
    ///
    /// - Parameter now: seconds since 1970, for the signature.
    /// - Throws: `CallWebhookError` if it was not delivered. The same call may be sent again.
    package func send(_ body: Data, callID: String, now: Int64) async throws(CallWebhookError) {
        var message = HTTPClientRequest(url: url)
        message.method = .POST
        message.headers = [
            "Content-Type": "application/json", "Idempotency-Key": callID, "X-Herald-Timestamp": "\(now)",
            "X-Herald-Signature": "sha256=" + signature(of: body, at: now), "User-Agent": "herald",
        ]
        message.body = .bytes(ByteBuffer(bytes: body))
        let status: Int
        do {
            status = Int(try await http.execute(message, timeout: TimeAmount(timeout)).status.code)
        } catch {
            let cause = ConnectionFailure.text(error, url: "\(key).url", roots: "the roots of this machine")
            throw CallWebhookError(
                key: key,
                problem: """
                    no response: \(cause ?? ServerText.clean("\(error)")); check \(key).url, the service behind it and \
                    the firewall
                    """)
        }
        guard (200..<300).contains(status) else {
            throw CallWebhookError(key: key, problem: "returned \(status)", status: status)
        }
    }

    /// Closes the connections. No call can be sent afterwards.
    package func shutdown() async { try? await http.shutdown() }

    private func signature(of body: Data, at now: Int64) -> String {
        var authentication = HMAC<SHA256>(key: secret.reveal())
        authentication.update(data: Data("\(now).".utf8))
        authentication.update(data: body)
        return Hexadecimal.text(authentication.finalize())
    }
}

/// The webhook did not accept a call.
package struct CallWebhookError: Error, Hashable, CustomStringConvertible {
    /// The key of the configuration.
    package let key: String
    package let problem: String
    /// The status of the response; nil without one.
    var status: Int?

    /// Whether the receiver refuses this message, and may take others.
    package var isRefusal: Bool { status.map { (400..<500).contains($0) && $0 != 429 } ?? false }

    package var description: String {
        let waits = key == "outcomes.webhook" ? "the call waits in the ledger and is sent again" : "it is sent again"
        return "\(key) \(problem); \(waits)"
    }
}
