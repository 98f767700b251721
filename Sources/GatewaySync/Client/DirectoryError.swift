// SPDX-License-Identifier: Apache-2.0

/// Why a request to the directory did not succeed, by what has to happen next.
///
/// No case changes the dataset: the last one stays readable. Texts never hold the API key; what the server said is
/// escaped and cut. Source: securenode-endpoint-contract §11.
package enum DirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// 401, or 403 with the contract's error body: branding stops until a sync succeeds.
    case unauthorised(status: Int, message: ServerMessage)
    /// Any other 4xx: the same request never succeeds, unless `isOfTheWay`.
    case rejected(status: Int, message: ServerMessage)
    /// Network failure, 408, 429 or 5xx: later perhaps, not before `retryAfter` if the server said so.
    case unavailable(reason: String, retryAfter: Duration?)
    /// An answer that is not the contract's: cut short, broken JSON, too large, a redirect.
    case badAnswer(reason: String)
    /// The answer was good and could not be stored; the disk may be full.
    case notKept(reason: String)

    package var description: String {
        switch self {
        case .unauthorised(let status, let message):
            """
            the directory refused access (\(message.following(status))); check the key that directory.api_key_file or \
            api_key_env names, and its account
            """
        case .rejected(let status, let message) where !message.isOfContract:
            """
            no response of the directory: status \(message.following(status)) came without its error body, so a proxy or \
            firewall sent it; check directory.url and the way there
            """
        case .rejected(let status, let message):
            "the directory rejected the request (\(message.following(status)))"
        case .unavailable(let reason, _): "the directory is not available: \(reason)"
        case .notKept(let reason): "the directory's answer could not be stored: \(reason)"
        case .badAnswer(let reason): "the directory's answer cannot be used: \(reason)"
        }
    }

    /// What the directory said, where it answered with 4xx.
    package var message: ServerMessage? {
        switch self {
        case .unauthorised(_, let message), .rejected(_, let message): message
        case .unavailable, .badAnswer, .notKept: nil
        }
    }

    /// True where nothing is said of the request itself: the directory is away, refuses this gateway, or is none.
    var isOfWholeDirectory: Bool {
        switch self {
        case .unauthorised, .unavailable, .badAnswer: true
        case .rejected: isOfTheWay
        case .notKept: false
        }
    }

    /// True where a proxy or firewall refused in the directory's place: a 4xx without the contract's error body.
    ///
    /// It reports nothing about key, event, cursor or device, whatever its status.
    var isOfTheWay: Bool {
        guard case .rejected(_, let message) = self else { return false }
        return !message.isOfContract
    }

    /// True where the path leads to nothing: 404 or 405, whoever sent it.
    var isNothingThere: Bool {
        guard case .rejected(let status, _) = self else { return false }
        return status == 404 || status == 405
    }

    /// What the server asked to wait, if it did.
    package var retryAfter: Duration? {
        if case .unavailable(_, let wait) = self { return wait }
        return nil
    }
}
