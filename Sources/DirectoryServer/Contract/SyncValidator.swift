// SPDX-License-Identifier: Apache-2.0

import Crypto
import DirectoryStore
import Foundation
import Hummingbird

/// A state of an account as the validators of HTTP (RFC 9110 §8.8).
extension SyncState {
    /// True when the client that asks has this state already.
    func isHeld(by request: Request, _ query: SyncQuery, now: Int64) -> Bool {
        ConditionalRequest.holds(tag(query: query.parts), modified: visibleTime(now: now), request)
    }

    /// What `Last-Modified` says; nil while it would be in the future, or is not kept, so that another state may get it.
    func visibleTime(now: Int64) -> Int64? { isNoted && modified <= now ? modified : nil }

    /// The entity tag of the response to one query.
    func tag(query: [String]) -> String {
        var hash = SHA256()
        hash.update(data: digest)
        for part in query { hash.update(data: Data("\(part.utf8.count):\(part)".utf8)) }
        return "W/\"\(Hexadecimal.text(hash.finalize().prefix(16)))\""
    }
}
