// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation

/// Reads the `meta` of a stored event, which `EventMinter` wrote.
enum OutboxMeta {
    /// - Throws: `DecodingError` for an edited row.
    static func decode(_ json: String) throws -> OutcomeEvent.Meta {
        try JSONDecoder().decode(OutcomeEvent.Meta.self, from: Data(json.utf8))
    }
}
