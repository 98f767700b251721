// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP

/// Reads responses of FCM HTTP v1. Source: Firebase, "ErrorCode" of the REST reference.
enum FCMReply {
    private struct Taken: Decodable {
        var name: String
    }

    private struct Failure: Decodable {
        struct Detail: Decodable {
            var errorCode: String?
            var fieldViolations: [Violation]?
        }

        struct Violation: Decodable {
            var field: String?
        }

        struct Status: Decodable {
            var status: String?
            var details: [Detail]?
        }

        var error: Status
    }

    /// The wait after a quota if FCM names none, in seconds.
    static let pause: Int64 = 60

    static func result(_ response: CheckedPost.Response, at now: Int64) -> PushResult {
        let failure = PushJSON.value(Failure.self, in: response.body)?.error
        let code = failure?.details?.compactMap(\.errorCode).first ?? failure?.status
        let reason = "FCM returned \(response.status)" + (code.map { ": \(FetchFailure.shown($0))" } ?? "")
        switch (response.status, code) {
        case (200, _):
            return .delivered(id: PushJSON.value(Taken.self, in: response.body).map { FetchFailure.shown($0.name) })
        case (PushResult.redirectCodes, _): return .redirected(response.status)
        case (_, "UNREGISTERED"): return .gone(reason: reason)
        case (400, _) where namesToken(failure): return .gone(reason: reason)
        case (413, _): return .tooLarge
        case (_, "QUOTA_EXCEEDED"), (429, _): return response.later(reason, at: now, atLeast: .seconds(pause))
        // Another project's token: removing it would hide a wrong service account.
        case (_, "SENDER_ID_MISMATCH"): return .refused(reason: reason)
        // The account or its rights: an operator can put them right within the lifetime of the message.
        case (401, _), (403, _), (408, _), (500..., _): return response.later(reason, at: now)
        default: return .refused(reason: reason)
        }
    }

    private static func namesToken(_ failure: Failure.Status?) -> Bool {
        failure?.details?.contains { $0.fieldViolations?.contains { $0.field == "message.token" } == true } == true
    }
}
