// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import Trust

/// Signers that calls have named and no snapshot has, on their way from the call path to the service that keeps signers.
///
/// Any thread. The call path never waits: a request that finds the queue full or in use is dropped and counted, and the next
/// call of the signer makes it again.
public final class SignerRequests: Sendable {
    /// A request with the mark of the trunk whose call made it.
    public struct Entry: Sendable {
        public let request: SignerRequest
        /// See `TrunkPeer.mark`.
        public let trunk: UInt16
        /// The addresses from which certificates are fetched for the trunk; empty where nothing is fetched for it.
        public let rules: [AddressRules]
    }

    /// The most requests in the queue. A chain in a token has at most 9 kB, so the queue has at most 2.3 MB.
    public static let most = 256

    private let entries = Mutex<[Entry]>([])
    private let lost = Atomic<UInt64>(0)

    public init() {}

    /// Adds a request unless it is in the queue under the same rules.
    ///
    /// The rules go with the request: one trunk opens no network to the calls of another one.
    public func add(_ request: SignerRequest, trunk: UInt16, rules: [AddressRules] = []) {
        let isTaken: Bool? = entries.withLockIfAvailable { entries in
            if entries.contains(where: { $0.request == request && $0.rules == rules }) { return true }
            guard entries.count < Self.most else { return false }
            entries.append(Entry(request: request, trunk: trunk, rules: rules))
            return true
        }
        if isTaken != true { lost.add(1, ordering: .relaxed) }
    }

    /// Takes all requests out, in order.
    public func takeAll() -> [Entry] {
        entries.withLock { entries in
            let taken = entries
            entries.removeAll(keepingCapacity: true)
            return taken
        }
    }

    /// Requests that were dropped since the start.
    public var dropped: UInt64 { lost.load(ordering: .relaxed) }
}
