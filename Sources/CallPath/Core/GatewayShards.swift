// SPDX-License-Identifier: Apache-2.0

package import SIPCore
import Synchronization

/// The transactions of a gateway, spread over shards by their branch, so that any worker can finish any call.
///
/// A shard is held by one worker for the time of one message, some microseconds; no other thread takes its lock.
package final class GatewayShards: Sendable {
    package let shared: GatewayShared
    private let shards: [GatewayShard]

    /// Makes `count` shards, at least one.
    package init(shared: GatewayShared, count: Int, now: Moment) {
        OSIPGrammar.start()
        self.shared = shared
        let settings = shared.settings.load()
        let capacity = max(1, settings.mostTransactions / max(1, count))
        shards = (0..<max(1, count)).map { _ in GatewayShard(shared: shared, capacity: capacity, now: now) }
    }

    /// How many shards there are.
    package var count: Int { shards.count }

    /// Transactions in memory.
    package var transactions: Int { shards.reduce(0) { $0 + $1.transactions.load(ordering: .relaxed) } }

    /// The shard that keeps a branch.
    func shard(of branch: Branch) -> GatewayShard { shards[Int(branch.value % UInt64(shards.count))] }

    /// The shard at a position.
    func shard(at position: Int) -> GatewayShard { shards[position] }
}

/// One part of the transactions with the rules that work on them.
final class GatewayShard: Sendable {
    private let gateway: Mutex<SIPGateway>
    private let deadline = Atomic<UInt64>(.max)
    fileprivate let transactions = Atomic<Int>(0)

    init(shared: GatewayShared, capacity: Int, now: Moment) {
        gateway = Mutex(SIPGateway(shared: shared, capacity: capacity, now: now))
    }

    /// When its timers want to run, in monotonic milliseconds; `UInt64.max` when none does.
    var nextDeadline: UInt64 { deadline.load(ordering: .relaxed) }

    /// Lets the rules work and takes what they want sent.
    func perform(into outgoing: inout [OutgoingMessage], _ work: (SIPGateway) -> Void) {
        gateway.withLock { gateway in
            work(gateway)
            deadline.store(gateway.transactions.nextDeadline ?? .max, ordering: .relaxed)
            transactions.store(gateway.transactions.count, ordering: .relaxed)
            gateway.transactions.moveOutgoing(to: &outgoing)
        }
    }
}
