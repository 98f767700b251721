// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Crypto
import NIOHTTP1

/// Sends a message to the push service of a browser (RFC 8030).
struct WebPushSender: Sendable {
    private let tokens: VAPIDTokens
    private let allowsPrivate: Bool
    private let post: CheckedPost
    let publicKey: String

    init(settings: WebPushSettings, allowsPrivate: Bool, post: CheckedPost) {
        tokens = VAPIDTokens(settings)
        publicKey = settings.key.publicKey
        (self.allowsPrivate, self.post) = (allowsPrivate, post)
    }

    func send(
        _ message: PushMessage, to endpoint: String, p256dh: [UInt8], auth: [UInt8], left: Int64, at now: Int64
    ) async -> PushResult {
        let url: FetchURL
        do throws(PushServiceURL.Fault) {
            url = try PushServiceURL.check(endpoint, allowsPrivate: allowsPrivate)
        } catch {
            return .refused(reason: WebPushSubscriptionError.endpoint(error).description)
        }
        guard let payload = try? PushJSON.bytes(WebPushPayload(message)) else {
            return .refused(reason: "the message cannot be written as JSON")
        }
        guard payload.count <= WebPushEncryption.mostOfMessage else { return .tooLarge }
        let padding = WebPushEncryption.padding(payload.count)
        guard let body = try? WebPushEncryption().seal(payload, p256dh: p256dh, auth: auth, padding: padding) else {
            return .gone(reason: "the key of the subscription is not one of P-256")
        }
        guard let authorization = try? tokens.authorization(for: url.origin, at: now) else {
            return .later(after: nil, reason: "the token for the push service cannot be signed")
        }
        let headers: HTTPHeaders = [
            "Authorization": authorization, "Content-Encoding": "aes128gcm", "Content-Type": "application/octet-stream",
            "TTL": "\(left)", "Urgency": message.kind.isUrgent ? "high" : "low", "Topic": Self.topic(message.tag),
            "User-Agent": "herald",
        ]
        do throws(FetchFailure) {
            return Self.result(try await post.response(to: url, headers, body: body), at: now)
        } catch {
            return PushResult(error)
        }
    }

    /// 32 characters of base64url, the most that RFC 8030 §5.4 permits; the tag itself stays hidden.
    static func topic(_ tag: String) -> String {
        Base64URL.encode([UInt8](SHA256.hash(data: Array(tag.utf8))).prefix(24))
    }

    static func result(_ response: CheckedPost.Response, at now: Int64) -> PushResult {
        let reason = "the push service returned \(response.status)"
        switch response.status {
        case 200..<300: return .delivered(id: response.headers.first(name: "Location").map { FetchFailure.shown($0) })
        case PushResult.redirectCodes: return .redirected(response.status)
        case 404, 410: return .gone(reason: reason)
        case 413: return .tooLarge
        case 408, 425, 429, 500...: return response.later(reason, at: now)
        default: return .refused(reason: reason)
        }
    }
}

extension FetchURL {
    /// Scheme, host, and a port that is not the scheme's own (RFC 6454 §6.2).
    var origin: String { "\(scheme)://\(name)" + (hasUsualPort ? "" : ":\(port)") }
}
