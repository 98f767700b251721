// SPDX-License-Identifier: Apache-2.0

import Crypto
import DirectoryStore
import Foundation
import Hummingbird
import Primitives

/// The HTTP validators of an account's state (RFC 9110 §8.8).
extension FeedState {
    /// True if the client already holds this state.
    func isHeld(by request: Request, _ query: SyncQuery, now: Int64) -> Bool {
        ConditionalRequest.holds(tag(query: query.parts), modified: visibleTime(now: now), now: now, request)
    }

    /// The value of `Last-Modified`; nil for a future time, and for a time that is not stored and may be used again.
    func visibleTime(now: Int64) -> Int64? { isSaved && modified <= now ? modified : nil }

    /// The entity tag of the response to one query.
    func tag(query: [String]) -> String {
        var hash = SHA256()
        hash.update(data: digest)
        for part in query { hash.update(data: Data("\(part.utf8.count):\(part)".utf8)) }
        return "W/\"\(Hexadecimal.text(hash.finalize().prefix(16)))\""
    }
}
