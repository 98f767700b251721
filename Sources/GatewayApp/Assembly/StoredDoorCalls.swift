// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Dispatch
import GatewayStore

/// Looks reported calls up in the ledger, one at a time, on a queue of its own: no thread of the task pool waits for the disk.
struct StoredDoorCalls: Sendable {
    private let reader: LedgerReader
    private let queue = DispatchQueue(label: "herald.outcomes")

    init(_ reader: LedgerReader) { self.reader = reader }

    /// Whether the end of a call is stored; throws the error of the ledger.
    func has(_ identifiers: [CallIdentifier]) async throws -> Bool {
        try await withCheckedThrowingContinuation { done in
            queue.async { done.resume(with: Result { try reader.hasDoorCall(identifiers) }) }
        }
    }
}
