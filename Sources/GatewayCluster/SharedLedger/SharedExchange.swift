// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore

/// The part of a sharing round that concerns other gateways: their signals, and returns and redials among all; one thread.
final class SharedExchange {
    private let inbox: SignalInbox
    private let returns: ReturnFinder
    private let redials: RedialFinder

    /// - Parameters:
    ///   - siblings: the sibling gateways as this one sees them.
    ///   - wall: microseconds since 1970 by the clock of the gateway.
    init(
        _ shipper: LedgerShipper, _ recorder: LedgerSharing.Inbox,
        siblings: @escaping @Sendable () -> [SiblingSight] = { [] }, wall: @escaping @Sendable () -> Int64
    ) {
        inbox = SignalInbox(shipper, into: recorder.ledger, recorder.cursors, wall: wall)
        returns = ReturnFinder(shipper, into: recorder.returns, window: recorder.window, wall: wall)
        redials = RedialFinder(shipper, into: recorder.returns.cluster, siblings: siblings, wall: wall)
    }

    /// One look; the numbers of signals and of returns.
    func look() throws -> (signals: Int, returns: Int) {
        try redials.look()
        return (try inbox.look(), try returns.look())
    }

    /// Reads the signals of some calls once more; false while the ledger takes no more.
    func recall(_ calls: [CallIdentifier]) throws -> Bool { try inbox.recall(calls) }

    /// Records that a round has failed.
    func interrupted() { redials.interrupted() }

    /// The end of the rounds.
    func finish() { try? inbox.keep(isLast: true) }
}
