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

    /// Posts a whole event; the response must be a success.
    func event(_ request: EventRequest) async throws -> EventResponse {
        let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        let response = try await post("/" + APIPath.event, body)
        try #require(response.status == 200, "\(response.text)")
        return try response.decoded()
    }
}
