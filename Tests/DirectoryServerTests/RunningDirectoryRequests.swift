// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import Testing

extension RunningDirectory {
    /// Puts whole entries into the database.
    @discardableResult
    func put(_ entries: BrandEntries.Entry...) throws -> BrandEntries.PutResult {
        try BrandEntries(database).put(entries, now: time.seconds)
    }

    /// Posts a whole event; the answer must be a success.
    func event(_ request: EventRequest) async throws -> EventResponse {
        let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        let answer = try await post("/" + APIPath.event, body)
        try #require(answer.status == 200, "\(answer.text)")
        return try answer.decoded()
    }
}
