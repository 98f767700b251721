// SPDX-License-Identifier: Apache-2.0

public import SIPCore
import Synchronization

/// The transactions of a gateway, spread over shards by their branch, so that any worker can finish any call.
///
/// One worker holds a shard for the time of one message, some microseconds. Only workers take its lock.
public final class GatewayShards: Sendable {
    public let shared: GatewayShared
    private let shards: [GatewayShard]

    /// Makes `count` shards, at least one.
    public init(shared: GatewayShared, count: Int, now: Moment) {
        OSIPGrammar.start()
        self.shared = shared
        let settings = shared.settings.load()
        let capacity = max(1, settings.mostTransactions / max(1, count))
        shards = (0..<max(1, count)).map { _ in
            GatewayShard(shared: shared, capacity: capacity, of: max(1, count), now: now)
        }
    }

    /// How many shards there are.
    public var count: Int { shards.count }

    /// Transactions in memory.
    public var transactions: Int { shards.reduce(0) { $0 + $1.transactions.load(ordering: .relaxed) } }

    /// The shard that keeps a branch.
    func shard(of branch: Branch) -> GatewayShard { shards[Int(branch.value % UInt64(shards.count))] }

    /// The shard at a position.
    func shard(at position: Int) -> GatewayShard { shards[position] }
}

/// One part of the transactions, with its proxy core.
final class GatewayShard: Sendable {
    private let core: Mutex<ProxyCore>
    private let deadline = Atomic<UInt64>(.max)
    fileprivate let transactions = Atomic<Int>(0)

    init(shared: GatewayShared, capacity: Int, of count: Int, now: Moment) {
        core = Mutex(ProxyCore(shared: shared, capacity: capacity, of: count, now: now))
    }

    /// The deadline of its next timer in monotonic milliseconds; `UInt64.max` without timers.
    var nextDeadline: UInt64 { deadline.load(ordering: .relaxed) }

    /// Runs `work` on the proxy core by these settings, and appends the messages to send.
    func perform(_ settings: GatewaySettings, into outgoing: inout [OutgoingMessage], _ work: (ProxyCore) -> Void) {
        core.withLock { core in
            core.use(settings)
            work(core)
            let kept = core.transactions
            deadline.store(kept.nextDeadline ?? .max, ordering: .relaxed)
            transactions.store(kept.count, ordering: .relaxed)
            kept.moveOutgoing(to: &outgoing)
        }
    }
}
