// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import NIOHTTP1
import Primitives

/// Reads `Retry-After` in both of its forms (RFC 9110 §10.2.3).
enum RetryAfter {
    /// The longest wait in seconds that a push service can ask for.
    static let most: Int64 = 86_400

    /// - Parameter now: seconds since 1970, for a date.
    /// - Returns: nil without the header, or for another form.
    static func wait(_ headers: HTTPHeaders, at now: Int64) -> Duration? {
        guard let text = headers.first(name: "Retry-After") else { return nil }
        let seconds = Int64(text) ?? InternetDate.seconds(Array(text.utf8)[...]).map { $0 - now }
        return seconds.map { .seconds(min(max(0, $0), most)) }
    }
}

extension CheckedPost.Response {
    /// The result of a response that asks for another attempt.
    func later(_ reason: String, at now: Int64, atLeast: Duration? = nil) -> PushResult {
        .later(after: RetryAfter.wait(headers, at: now) ?? atLeast, reason: reason)
    }
}
