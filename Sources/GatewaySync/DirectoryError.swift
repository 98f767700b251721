// SPDX-License-Identifier: Apache-2.0

/// Why a request to the directory did not succeed, by what has to happen next.
///
/// No case changes the dataset: the last one stays readable. Texts never hold the API key; what the server said is
/// escaped and cut. Source: securenode-endpoint-contract §11.
package enum DirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// 401 or 403: branding stops until a sync succeeds.
    case unauthorised(status: Int, message: ServerMessage)
    /// Any other 4xx: the same request will never succeed.
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
        case .rejected(404, let message) where message.description.isEmpty:
            "the directory rejected the request (404); is directory.url the address of a directory?"
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
        case .rejected(_, let message): message.description.isEmpty
        case .notKept: false
        }
    }

    /// True where a proxy speaks rather than a directory: of its paths, its own key, its hosts or the size of a header.
    var isOfTheWay: Bool {
        guard case .rejected(let status, let message) = self else { return false }
        return message.description.isEmpty && [404, 405, 407, 421, 431].contains(status)
    }

    /// What the server asked to wait, if it did.
    package var retryAfter: Duration? {
        if case .unavailable(_, let wait) = self { return wait }
        return nil
    }
}
