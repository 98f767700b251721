// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP

/// The end of one attempt. Texts of push services are escaped and truncated, and no text names the device.
package enum PushResult: Hashable, Sendable {
    /// The push service has taken the message, and may have named it.
    case delivered(id: String?)
    /// The device is not registered any more; its registration must be removed.
    case gone(reason: String)
    /// A later attempt may succeed, after the given time if the push service named one.
    case later(after: Duration?, reason: String)
    /// No attempt will succeed with this message.
    case refused(reason: String)
    /// The push service takes no message of this size.
    case tooLarge
}

extension PushResult {
    /// The result of a request without a response.
    init(_ failure: FetchFailure) {
        self =
            failure.isSilence
            ? .later(after: nil, reason: failure.description) : .refused(reason: failure.description)
    }

    /// The result for a message whose lifetime has ended.
    static let expired = PushResult.refused(reason: "its lifetime has ended")
    static let redirectCodes = 300..<400

    static func redirected(_ status: Int) -> PushResult { PushResult(FetchFailure.redirect(status)) }
}
