// SPDX-License-Identifier: Apache-2.0

/// Classifies failed requests to the directory by the next step.
///
/// No case changes the dataset: the last one stays readable. Texts never hold the API key. Text from the server is
/// escaped and truncated. Source: securenode-endpoint-contract §11.
package enum DirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// 401, or 403 with the contract's error body: branding stops until a sync succeeds.
    case unauthorised(status: Int, message: ServerMessage)
    /// Any other 4xx: the same request never succeeds, unless `isOfTheWay`.
    case rejected(status: Int, message: ServerMessage)
    /// Network failure, 408, 429 or 5xx: retry later, not before `retryAfter` if the server sent it.
    case unavailable(reason: String, retryAfter: Duration?)
    /// A response outside the contract: truncated, broken JSON, too large, a redirect.
    case badResponse(reason: String)
    /// A valid response that could not be stored; the disk may be full.
    case notKept(reason: String)

    package var description: String {
        switch self {
        case .unauthorised(let status, let message):
            """
            the directory refused access (\(message.following(status))); check the key that api_key_file or api_key_env of \
            this account's section directory names, and the account
            """
        case .rejected(let status, let message) where !message.isOfContract:
            """
            no response of the directory: status \(message.following(status)) came without its error body, so a proxy or \
            firewall sent it; check directory.url and the way there
            """
        case .rejected(let status, let message):
            "the directory rejected the request (\(message.following(status)))"
        case .unavailable(let reason, _): "the directory is not available: \(reason)"
        case .notKept(let reason): "the directory's response could not be stored: \(reason)"
        case .badResponse(let reason): "the directory's response cannot be used: \(reason)"
        }
    }

    /// The directory's message in a 4xx response.
    package var message: ServerMessage? {
        switch self {
        case .unauthorised(_, let message), .rejected(_, let message): message
        case .unavailable, .badResponse, .notKept: nil
        }
    }

    /// True if the failure does not concern the request itself: the directory is away, refuses this gateway, or is
    /// none.
    var isOfWholeDirectory: Bool {
        switch self {
        case .unauthorised, .unavailable, .badResponse: true
        case .rejected: isOfTheWay
        case .notKept: false
        }
    }

    /// True if a proxy or firewall refused: a 4xx without the contract's error body.
    ///
    /// Such a response does not concern key, event, cursor or device, whatever its status.
    var isOfTheWay: Bool {
        guard case .rejected(_, let message) = self else { return false }
        return !message.isOfContract
    }

    /// True for 404 or 405 from any sender.
    var isNothingThere: Bool {
        guard case .rejected(let status, _) = self else { return false }
        return status == 404 || status == 405
    }

    /// The wait that the server asked for, if any.
    package var retryAfter: Duration? {
        if case .unavailable(_, let wait) = self { return wait }
        return nil
    }
}
