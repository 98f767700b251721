// SPDX-License-Identifier: Apache-2.0

import GatewayStore

/// Updates of one sibling, in the order in which it has counted them.
struct SiblingReceiving: Sendable {
    /// The sequence up to which the ledger has taken everything.
    private(set) var received: UInt64 = 0
    /// The last sequence whose effect is stored.
    private(set) var stored: UInt64 = 0
    /// Updates that have overtaken a lost datagram, or that the ledger has not taken yet.
    private var early: [UInt64: [ForeignUpdate]] = [:]
    private var unstored: [(sequence: UInt64, batch: UInt64)] = []

    /// The accepted sequences after `received`, the next one in the lowest bit.
    var ahead: UInt64 { early.keys.reduce(0) { $0 | 1 << ($1 - received - 1) } }

    /// Accepts updates.
    ///
    /// - Parameters:
    ///   - first: the first sequence that the sender knows this gateway to wait for.
    ///   - updates: with times by this gateway's clock.
    /// - Returns: true for updates that were not accepted before.
    mutating func accept(
        _ sequence: UInt64, first: UInt64, _ updates: [ForeignUpdate], into ledger: some SiblingLedger
    ) -> Bool {
        // Earlier updates were accepted by an earlier process of this gateway.
        if first > received + 1 {
            received = first - 1
            early = early.filter { $0.key > received }
        }
        let isNew = sequence > received && sequence - received <= 64 && early[sequence] == nil
        if isNew { early[sequence] = updates }
        pass(to: ledger)
        return isNew
    }

    /// Accepts updates of a sibling that sends one datagram at a time.
    mutating func accept(_ sequence: UInt64, _ updates: [ForeignUpdate], into ledger: some SiblingLedger) -> Bool {
        guard sequence > received, let batch = ledger.take(updates) else { return false }
        received = sequence
        unstored.append((sequence, batch))
        return true
    }

    /// Passes on what is next, as far as the ledger takes it, and reads what the ledger has stored.
    mutating func pass(to ledger: some SiblingLedger) {
        while let next = early[received + 1], let batch = ledger.take(next) {
            received += 1
            early[received] = nil
            unstored.append((received, batch))
        }
        let batch = ledger.storedBatch
        let count = unstored.prefix { $0.batch <= batch }.count
        if count > 0 { stored = unstored[count - 1].sequence }
        unstored.removeFirst(count)
    }
}
