// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import NIOHTTP1

/// The reasons of APNs that lead to a result of their own. Source: Apple, "Handling notification responses from APNs".
enum APNsReason: String {
    case expiredProviderToken = "ExpiredProviderToken"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"

    private struct Body: Decodable {
        var reason: String
    }

    /// Nil for a reason that the status covers.
    init?(_ response: CheckedPost.Response) {
        guard let reason = PushJSON.value(Body.self, in: response.body)?.reason else { return nil }
        self.init(rawValue: reason)
    }

    static func result(_ response: CheckedPost.Response, at now: Int64) -> PushResult {
        let text = PushJSON.value(Body.self, in: response.body).map { ": \(FetchFailure.shown($0.reason))" }
        let reason = "APNs returned \(response.status)\(text ?? "")"
        switch (response.status, APNsReason(response)) {
        case (200, _): return .delivered(id: response.headers.first(name: "apns-id").map { FetchFailure.shown($0) })
        case (PushResult.redirectCodes, _): return .redirected(response.status)
        // Unregistered and ExpiredToken. BadDeviceToken has 400, and is also the result of a wrong `sandbox`. A removed
        // device would need another confirmation.
        case (410, _): return .gone(reason: reason)
        case (413, _): return .tooLarge
        case (429, .tooManyProviderTokenUpdates):
            return response.later(reason, at: now, atLeast: .seconds(APNsToken.pause))
        // The account's key or its clock: an operator can put it right within the lifetime of the message.
        case (401, _), (403, _), (408, _), (429, _), (500..., _): return response.later(reason, at: now)
        default: return .refused(reason: reason)
        }
    }
}
