// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

extension SignerStore {
    /// Stores the state of the fetches of a list.
    package func record(_ state: StoredListFetch) async throws {
        try await change { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO list_fetch VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    state.address, Data(state.digest), state.reason, state.attempts, state.nextAt, state.fetchedAt,
                    state.etag, state.lastModified,
                ])
        }
    }
}
