// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Directory
import Foundation
import Testing

/// A brand entry of a number.
func entry(
    _ number: String, _ name: String = "Acme Bank", logo: String? = nil, reason: String? = nil
) throws -> BrandEntries.Entry {
    BrandEntries.Entry(
        number: try #require(E164Number(number)), name: name, brandID: "acme", logoURL: logo, callReason: reason)
}

extension ManualTime {
    /// Where it stands at first: 2026-01-01T00:00:00Z.
    static let start: Int64 = 1_767_225_600
}

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
