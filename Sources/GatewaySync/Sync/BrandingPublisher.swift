// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
package import CallAccounting
import Host
package import Logging

/// The only writer of the branding snapshot: publishes gates and indexes to the call path, then stores them.
///
/// Sync and event sender share it. An older snapshot of one cannot reopen a gate that the other has closed. The swap
/// precedes the store: a closed gate takes effect at once, even if the disk is full.
package actor BrandingPublisher {
    private let current: CurrentBranding
    private let cache: any BrandCache
    private let logger: Logger
    private let share: Share
    /// The gates in force for calls.
    private(set) package var gates: BrandingGates
    /// Closed gates since the start. A request sent before the last closing may have an outdated response.
    private(set) var closings = 0
    /// Successful syncs since the start.
    private(set) var syncs = 0
    private var storedGates: BrandingGates
    /// The public cards of the account's brands, and those that are stored.
    private var cards: CardLinks?
    private var storedCards: CardLinks?
    private var isStoring = false
    private var remarks: ConfigRemarks
    private let time: ServiceClock
    /// Syncs requested by `doubtKey`, and the earliest time of the next one by the steady clock.
    private var doubts = (count: 0, next: Int64.min / 2)
    private static let doubtBackoff = Backoff(first: .seconds(60), limit: .seconds(3600))
    /// Time of each gate's last change; missing if it has not changed since the start.
    private(set) package var changedAt: [String: Int64] = [:]

    /// Hands an index, or one that shares memory with an equal one, to the function that puts it in force.
    package typealias Share = @Sendable (BrandIndex, (BrandIndex) -> Void) -> Void

    /// Continues from the snapshot of the program's start, with the stored gates.
    package init(
        current: CurrentBranding, cache: any BrandCache, time: ServiceClock = .system, logger: Logger,
        share: @escaping Share = { $1($0) }
    ) {
        self.share = share
        self.time = time
        self.current = current
        self.cache = cache
        self.logger = logger
        remarks = ConfigRemarks(logger: logger)
        let snapshot = current.load()
        (gates, storedGates) = (snapshot.gates, snapshot.gates)
        (cards, storedCards) = (snapshot.cards, snapshot.cards)
    }

    /// Generation of the index in use.
    var generation: Int64 { current.load().index.generation }

    /// Changes the gates at once for the next call, then stores them.
    ///
    /// A failed store is logged and retried with the next change. The gates hold in memory meanwhile.
    package func change(_ change: @Sendable (BrandingGates) -> BrandingGates) async {
        set(change(gates))
        guard !isStoring else { return }
        isStoring = true
        defer { isStoring = false }
        // The gates may have changed during the store. The last value must win on disk too.
        while storedGates != gates {
            let next = gates
            do {
                try await cache.store(gates: next)
                storedGates = next
            } catch {
                logger.warning("the gates could not be stored and hold in memory only", metadata: ["error": "\(error)"])
                return
            }
        }
    }

    /// Requests an early sync. Only a sync shows whether the key is refused and the records are fresh.
    nonisolated let wantsSync = AsyncEvent()

    /// Requests a sync after another request had its key refused: a sync alone decides about the gate.
    ///
    /// A directory may refuse events or lookups alone for weeks. So the first refusal rings, and later ones ring after
    /// waits that double from 1 min to 1 h.
    func doubtKey() {
        let now = time.steady()
        guard now >= doubts.next else { return }
        // A refusal long after the last one is news.
        let count = now - doubts.next > Self.doubtBackoff.limit.components.seconds ? 1 : doubts.count + 1
        doubts = (count, now + Self.doubtBackoff.delay(afterFailures: count).components.seconds)
        wantsSync.ring()
    }

    /// Closes the gate after the directory refused the key of a sync, until a sync succeeds.
    package func closeUnauthorised() async {
        await change { gates in
            var gates = gates
            gates.authorised = false
            return gates
        }
    }

    /// Applies the `config` of a successful sync. It also opens the gate of a refused key.
    func apply(sync config: DirectoryConfig) async {
        syncs += 1
        remarks.record(config, obeysVoipDialer: gates.obeysVoipDialer, now: time.now())
        await change { config.gates(after: $0) }
    }

    /// Applies the `config` of a response other than a sync's.
    ///
    /// Only a sync opens the gate of a refused key. Responses can overtake each other. A response to a request sent
    /// before a gate was closed may close gates but opens none.
    ///
    /// - Parameter closings: `closings` at the time of the request.
    func apply(_ config: DirectoryConfig, askedAfter closings: Int) async {
        let isLate = closings != self.closings
        remarks.record(config, obeysVoipDialer: gates.obeysVoipDialer, now: time.now())
        await change { gates in
            var next = config.gates(after: gates)
            next.authorised = gates.authorised
            return isLate ? gates.closedFurther(as: next) : next
        }
    }

    /// Takes over the public cards that the `config` of a sync has; a config without them closes them.
    ///
    /// The next call uses them. A template that no header field may carry is refused and logged.
    ///
    /// - Returns: false if they could not be stored. Then no validator may be for the response, because a 304 has no
    ///   `config`.
    func apply(cardsOf config: DirectoryConfig) async -> Bool {
        let text = config.cardURL ?? ""
        let next = CardLinks(template: text)
        remarks.record(refusedCardURL: next == nil && !text.isEmpty ? text : nil)
        if next != cards {
            cards = next
            current.store(BrandingSnapshot(index: current.load().index, gates: gates, cards: next))
        }
        guard next != storedCards else { return true }
        do {
            try await cache.store(cards: next)
            storedCards = next
            return true
        } catch {
            logger.warning(
                "the address of the public cards could not be stored and holds in memory only; the next sync stores it",
                metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Puts the stored index, gates and cards of an earlier run in force.
    package func begin(_ index: BrandIndex, _ stored: BrandingGates, cards: CardLinks? = nil) {
        (gates, storedGates) = (stored, stored)
        (self.cards, storedCards) = (cards, cards)
        share(index) { current.store(BrandingSnapshot(index: $0, gates: stored, cards: cards)) }
    }

    /// Publishes an index unless the one in use is as new.
    func publishNewer(_ index: BrandIndex) {
        if index.generation > generation { publish(index) }
    }

    /// Publishes a new index with the present gates. An index of older records than those in use is dropped.
    package func publish(_ index: BrandIndex) {
        guard index.generation >= generation else { return }
        share(index) { current.store(BrandingSnapshot(index: $0, gates: gates, cards: cards)) }
    }

    private func set(_ next: BrandingGates) {
        guard next != gates else { return }
        let before = gates
        gates = next
        for (old, new) in zip(before.all, next.all) where old.isOpen != new.isOpen {
            changedAt[new.gate] = time.now()
            if old.isOpen { closings += 1 }
        }
        current.store(BrandingSnapshot(index: current.load().index, gates: next, cards: cards))
        guard before.closed != next.closed else { return }
        if let reason = next.closed {
            logger.warning("branding stopped, calls pass unbranded", metadata: ["reason": "\(reason)"])
        } else {
            logger.info("branding goes on")
        }
    }
}
