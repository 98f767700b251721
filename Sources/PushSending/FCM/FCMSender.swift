// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import NIOHTTP1

/// Sends a message to an app on Android through FCM HTTP v1.
struct FCMSender: Sendable {
    private let settings: FCMSettings
    private let url: FetchURL
    private let access: FCMAccess
    private let post: CheckedPost

    init(_ settings: FCMSettings, allowsPrivate: Bool, post: CheckedPost) throws(PushSettingsError) {
        let send = "\(settings.url)/v1/projects/\(settings.project)/messages:send"
        guard let url = try? PushServiceURL.check(send, allowsPrivate: allowsPrivate) else {
            throw PushSettingsError("the URL of FCM is no https URL of a public host")
        }
        guard let tokens = try? PushServiceURL.check(settings.tokenURL, allowsPrivate: allowsPrivate) else {
            throw PushSettingsError("the token_uri of the service account of FCM is no https URL of a public host")
        }
        (self.settings, self.url, self.post) = (settings, url, post)
        access = FCMAccess(settings, url: tokens, post: post)
    }

    func send(_ message: PushMessage, to device: String, left: Int64, at now: Int64) async -> PushResult {
        guard (1...FCMPayload.most).contains(device.utf8.count) else {
            return .gone(reason: "the registration token is empty or too long")
        }
        let content = FCMPayload(message, to: device, left: left, settings: settings)
        guard let payload = try? PushJSON.bytes(content) else {
            return .refused(reason: "the message cannot be written as JSON")
        }
        guard payload.count - device.utf8.count <= FCMPayload.most else { return .tooLarge }
        let first = await access.token(at: now)
        guard case .token(let token) = first else { return first.result }
        let result = await attempt(payload, token, now)
        guard case .badToken = result else { return result.end }
        // An administrator may withdraw a token before its end.
        let second = await access.token(at: now, not: token)
        guard case .token(let next) = second else { return second.result }
        return await attempt(payload, next, now).end
    }

    private enum Attempt {
        case over(PushResult)
        case badToken(PushResult)

        var end: PushResult {
            switch self {
            case .over(let result), .badToken(let result): result
            }
        }
    }

    private func attempt(_ payload: [UInt8], _ token: String, _ now: Int64) async -> Attempt {
        let headers: HTTPHeaders = [
            "Authorization": "Bearer \(token)", "Content-Type": "application/json; charset=UTF-8",
            "User-Agent": "herald",
        ]
        do throws(FetchFailure) {
            let response = try await post.response(to: url, headers, body: payload)
            let result = FCMReply.result(response, at: now)
            return response.status == 401 ? .badToken(result) : .over(result)
        } catch {
            return .over(PushResult(error))
        }
    }
}

extension FCMAccess.Outcome {
    /// The result of a message without a token.
    fileprivate var result: PushResult {
        switch self {
        case .token: .later(after: nil, reason: "FCM accepts no token of the service account")
        case .none(let result): result
        }
    }
}
