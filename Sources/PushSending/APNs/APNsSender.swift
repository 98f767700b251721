// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Crypto
import NIOHTTP1
import Primitives

/// Sends a message to an app on iOS through APNs, with tokens and over HTTP/2.
struct APNsSender: Sendable {
    private let settings: APNsSettings
    private let base: FetchURL
    private let token: APNsToken
    private let post: CheckedPost

    init(_ settings: APNsSettings, allowsPrivate: Bool, post: CheckedPost) throws(PushSettingsError) {
        guard let base = try? PushServiceURL.check(settings.url, allowsPrivate: allowsPrivate) else {
            throw PushSettingsError("the URL of APNs is no https URL of a public host")
        }
        (self.settings, self.base, self.post) = (settings, base, post)
        token = APNsToken(settings)
    }

    func send(_ message: PushMessage, to device: String, key: String, left: Int64, at now: Int64) async -> PushResult {
        guard (1...200).contains(device.utf8.count), device.utf8.allSatisfy({ Self.isHexadecimal($0) }),
            let url = FetchURL("\(base.text)/3/device/\(device)")
        else { return .gone(reason: "the device token is not hexadecimal") }
        guard let payload = try? PushJSON.bytes(APNsPayload(message)) else {
            return .refused(reason: "the message cannot be written as JSON")
        }
        guard payload.count <= APNsPayload.most else { return .tooLarge }
        guard let first = try? token.value(at: now) else { return Self.unsigned }
        let headers = headers(message, key, left, now)
        let result = await attempt(url, headers, payload, first, now)
        guard case .expiredToken = result else { return result.end }
        guard let second = try? token.value(after: first, at: now) else {
            return .later(after: .seconds(APNsToken.pause), reason: "APNs calls a new token expired; check the clock")
        }
        return await attempt(url, headers, payload, second, now).end
    }

    private enum Attempt {
        case over(PushResult)
        case expiredToken

        var end: PushResult {
            switch self {
            case .over(let result): result
            case .expiredToken: .later(after: nil, reason: "APNs calls a new token expired; check the clock")
            }
        }
    }

    private static let unsigned = PushResult.later(after: nil, reason: "the token for APNs cannot be signed")

    private func attempt(
        _ url: FetchURL, _ headers: HTTPHeaders, _ payload: [UInt8], _ token: String, _ now: Int64
    ) async -> Attempt {
        var headers = headers
        headers.add(name: "authorization", value: "bearer \(token)")
        do throws(FetchFailure) {
            let response = try await post.response(to: url, headers, body: payload)
            if response.status == 403, APNsReason(response) == .expiredProviderToken { return .expiredToken }
            return .over(APNsReason.result(response, at: now))
        } catch {
            return .over(PushResult(error))
        }
    }

    private func headers(_ message: PushMessage, _ key: String, _ left: Int64, _ now: Int64) -> HTTPHeaders {
        let isSilent = message.privacy == .silent
        return [
            "apns-topic": settings.topic, "apns-push-type": isSilent ? "background" : "alert",
            // A background message must have 5.
            "apns-priority": message.kind.isUrgent && !isSilent ? "10" : "5", "apns-id": Self.id(key),
            "apns-collapse-id": Self.collapseID(message.tag), "apns-expiration": "\(left == 0 ? 0 : now + left)",
            "content-type": "application/json",
        ]
    }

    /// A UUID of version 8 made of the key, so that another attempt has the same one (RFC 9562 §5.8).
    static func id(_ key: String) -> String {
        var bytes = [UInt8](SHA256.hash(data: Array(key.utf8))).prefix(16)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = Hexadecimal.text(bytes)
        for place in [20, 16, 12, 8] { text.insert("-", at: text.index(text.startIndex, offsetBy: place)) }
        return text
    }

    /// The tag, or its hash if it has more than 64 bytes or characters beside letters, digits and `-._`.
    static func collapseID(_ tag: String) -> String {
        let isPlain = tag.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._".utf8.contains(byte)
        }
        guard isPlain, (1...64).contains(tag.utf8.count) else {
            return Hexadecimal.text(SHA256.hash(data: Array(tag.utf8)))
        }
        return tag
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }
}
