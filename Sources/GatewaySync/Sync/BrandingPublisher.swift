// SPDX-License-Identifier: Apache-2.0

package import Branding
import BrandingAPI
package import CallAccounting
package import Logging

/// The one writer of the branding snapshot: puts gates and indexes in front of the calls, then into the store.
///
/// Sync and event sender share it, so that a gate one of them closes cannot be opened again by a snapshot the other
/// prepared earlier. The swap comes first: a closed gate holds at once, even if the disk is full.
package actor BrandingPublisher {
    private let current: CurrentBranding
    private let cache: any BrandCache
    private let logger: Logger
    /// What calls see.
    private(set) package var gates: BrandingGates
    /// How often a gate was closed since the start: what was asked before the last time may be answered too late.
    private(set) var closings = 0
    private var storedGates: BrandingGates
    private var isStoring = false
    private var remarks: ConfigRemarks
    private let time: Timekeeper
    /// When each gate was last opened or closed; missing where it is as it was at the start.
    private(set) package var changedAt: [String: Int64] = [:]

    /// Goes on from the snapshot the program started with, whose gates are the stored ones.
    package init(
        current: CurrentBranding, cache: any BrandCache, time: Timekeeper = .system, logger: Logger
    ) {
        self.time = time
        self.current = current
        self.cache = cache
        self.logger = logger
        remarks = ConfigRemarks(logger: logger)
        gates = current.load().gates
        storedGates = gates
    }

    /// Generation of the index that calls see.
    var generation: Int64 { current.load().index.generation }

    /// Changes the gates at once for the next call, then stores them.
    ///
    /// A store that fails is logged and tried again with the next change: the gates hold in memory meanwhile.
    package func change(_ change: @Sendable (BrandingGates) -> BrandingGates) async {
        set(change(gates))
        guard !isStoring else { return }
        isStoring = true
        defer { isStoring = false }
        // While one value was being stored another may have been set; the last one must win on disk too.
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

    /// Rung where a sync should not wait for its time: it alone tells whether a key is refused and records are fresh.
    nonisolated let wantsSync = WakeSignal()

    /// Closes the gate after the directory refused the key of another request than a sync's, and has the next sync decide at once.
    func doubtKey() async {
        let wasOpen = gates.authorised
        await closeUnauthorised()
        if wasOpen { wantsSync.ring() }
    }

    /// Closes the gate after the directory refused the key, until a sync succeeds.
    package func closeUnauthorised() async {
        await change { gates in
            var gates = gates
            gates.authorised = false
            return gates
        }
    }

    /// Obeys the `config` of a sync, whose success opens the gate of a refused key too.
    func apply(sync config: DirectoryConfig) async {
        remarks.note(config, obeysVoipDialer: gates.obeysVoipDialer, now: time.now())
        await change { config.gates(after: $0) }
    }

    /// Obeys what an answer other than a sync's says; only a sync opens the gate of a refused key again.
    ///
    /// Answers overtake each other: one of a directory that was asked before a gate was closed may close more, and opens
    /// nothing.
    ///
    /// - Parameter closings: as they were when the directory was asked.
    func apply(_ config: DirectoryConfig, askedAfter closings: Int) async {
        let isLate = closings != self.closings
        remarks.note(config, obeysVoipDialer: gates.obeysVoipDialer, now: time.now())
        await change { gates in
            var next = config.gates(after: gates)
            next.authorised = gates.authorised
            return isLate ? gates.closedFurther(as: next) : next
        }
    }

    /// Puts an index in front of the calls unless they see one as new.
    func publishNewer(_ index: BrandIndex) {
        if index.generation > generation { publish(index) }
    }

    /// Puts a new index in front of the calls, under the gates of this instant.
    ///
    /// One of older records than those in use comes too late and is dropped.
    package func publish(_ index: BrandIndex) {
        guard index.generation >= generation else { return }
        current.store(BrandingSnapshot(index: index, gates: gates))
    }

    private func set(_ next: BrandingGates) {
        guard next != gates else { return }
        let before = gates
        gates = next
        for (old, new) in zip(before.all, next.all) where old.isOpen != new.isOpen {
            changedAt[new.gate] = time.now()
            if old.isOpen { closings += 1 }
        }
        current.store(BrandingSnapshot(index: current.load().index, gates: next))
        guard before.closed != next.closed else { return }
        if let reason = next.closed {
            logger.warning("branding stopped, calls pass unbranded", metadata: ["reason": "\(reason)"])
        } else {
            logger.info("branding goes on")
        }
    }
}
