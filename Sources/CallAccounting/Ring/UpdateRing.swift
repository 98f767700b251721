// SPDX-License-Identifier: Apache-2.0

import Atomics
import Synchronization

/// Carries call updates from the call path to the recorder: a fixed-size ring in a memory-mapped file.
///
/// `append` is plain stores into present memory, then one store of the sequence number with release order. It makes no
/// system call and no allocation, and takes no lock but that of the producers. The file outlives the process. After a
/// kill the next process opens it, and the consumer continues after the position that it stored with its rows. So
/// nothing is lost and nothing is applied twice. On tmpfs a power cut loses the updates that the consumer has not
/// stored.
///
/// An update takes one slot or several in a row. Each slot has a sequence number, and the update has the number of its
/// first slot. The producer claims the numbers first and publishes the first number last. A slot of a producer that
/// died in between carries an older number than its place demands. Producers share a lock that they hold for
/// one update. There is one consumer at a time.
///
/// The two sides share no pointer. Each has its own mapping behind its own lock, as two processes would. Three rules
/// keep them apart in the file:
///
/// 1. The numbers of the header and of the slots are accessed atomically only.
/// 2. A producer writes slot n only when n − capacity is released. It loads `released` with acquire order; the consumer
///    stores it with release order after its reads. `released` falls only in `resume`, before any producer works.
/// 3. The consumer reads slots from n on only with released < n, after a load of the number n with acquire order. The
///    producer stores that number with release order after the last byte of the update.
///
/// A ring with less than an eighth of its slots free sheds updates of unbranded calls; a full ring sheds all. Both are
/// counted. An accepted update is never taken back, because that would need a lock shared with the consumer.
public final class UpdateRing: Sendable {
    /// The state of the file at the start; worth one log line.
    public enum Opening: Hashable, Sendable {
        case created
        /// The ring of an earlier process with `pending` waiting slots.
        ///
        /// Another `capacity` than the configured one is kept until a start finds the ring empty.
        case resumed(pending: UInt64, capacity: Int)
        /// The file was no ring of this version. It is now at `setAside`.
        case replaced(setAside: String, problem: String)
    }

    /// Updates shed since the file was made.
    public struct Shed: Hashable, Sendable {
        /// Updates of calls known to be unbranded, shed while less than an eighth of the ring was free.
        public var unbranded: UInt64
        /// Updates of branded or unknown calls, shed because no slot was free.
        public var branded: UInt64
    }

    public let opening: Opening
    /// Identifies this ring; positive.
    ///
    /// A `resume` past the end of the ring gives it another identifier.
    public var ringID: Int64 { consuming.withLock { $0.ringID } }
    /// Number of slots.
    public let capacity: Int

    private let file: UpdateRingFile
    private let producing: Mutex<UpdateRingMapping>
    private let consuming: Mutex<UpdateRingMapping>
    /// Free slots below which updates of unbranded calls are shed.
    private let reserve: UInt64
    /// The last number claimed by an earlier process; unpublished slots up to here stay unpublished.
    private let dead: UInt64

    /// Opens the ring at `path` or creates it there; its folder must exist.
    ///
    /// - Parameters:
    ///   - path: the file, best on tmpfs (`/run/herald/signals.ring`); any file system works.
    ///   - capacity: slots of 128 bytes, at least 8; 131,072 take 16 MB.
    /// - Throws: `UpdateRingError` if the file cannot be made, or another running gateway holds it.
    public convenience init(path: String, capacity: Int = 131_072) throws(UpdateRingError) {
        let (file, opening) = try UpdateRingFile.open(path: path, capacity: max(8, capacity))
        try self.init(file, opening, path: path)
    }

    /// Makes a ring that ends with the process, for a gateway without a writable folder.
    public convenience init(inMemory capacity: Int) throws(UpdateRingError) {
        let (file, path) = try UpdateRingFile.openNameless(capacity: max(8, capacity))
        try self.init(file, .created, path: path)
    }

    private init(_ file: UpdateRingFile, _ opening: Opening, path: String) throws(UpdateRingError) {
        (self.file, self.opening) = (file, opening)
        capacity = Int(file.capacity)
        reserve = file.capacity / 8
        do {
            // The producer maps every page before the first call. The consumer may wait for its pages.
            let mapping = try UpdateRingMapping(file, isPresent: true)
            dead = mapping.claimed.load(ordering: .acquiring)
            producing = Mutex(mapping)
            consuming = Mutex(try UpdateRingMapping(file, isPresent: false))
        } catch {
            file.close()
            throw UpdateRingError(path: path, problem: error)
        }
    }

    deinit { file.close() }

    // MARK: Producer

    /// Puts one update into the ring.
    ///
    /// - Parameter texts: given with an `invite`, nil otherwise; longer texts are cut to their limits.
    /// - Returns: false if a full or nearly full ring shed the update, which is counted.
    @discardableResult
    public func append(_ update: CallUpdate, texts: CallTexts? = nil) -> Bool {
        producing.withLock { ring in
            let slots = ring.prepare(update, texts: texts)
            let used = ring.claimed.load(ordering: .relaxed) &- ring.released.load(ordering: .acquiring)
            let free = used >= ring.capacity ? 0 : ring.capacity - used
            let isUnbranded = update.reason != nil
            guard free >= slots, free > reserve || !isUnbranded else {
                (isUnbranded ? ring.shedUnbranded : ring.shedBranded).wrappingIncrement(ordering: .relaxed)
                return false
            }
            // With acquire order, so that no byte of a slot is written before its number shows as claimed.
            let before = ring.claimed.loadThenWrappingIncrement(by: slots, ordering: .acquiringAndReleasing)
            ring.publish(from: before &+ 1, slots: slots)
            return true
        }
    }

    /// Puts the updates of a whole call into the ring: all of them or none.
    ///
    /// The first one is published last. So neither the consumer nor a kill at any moment divides them. They take a quarter
    /// of the ring at most, because the call can be reported again: a ledger that stores nothing sheds reports before calls.
    ///
    /// - Parameters:
    ///   - updates: an `invite` and what followed, at least one.
    ///   - texts: of the `invite`.
    /// - Returns: the number of their last slot, which `released` reaches once they are stored; nil if there is no place.
    public func append(whole updates: [CallUpdate], texts: CallTexts) -> UInt64? {
        producing.withLock { ring in
            let parts = updates.enumerated().map { (update: $1, texts: $0 == 0 ? texts : nil) }
            var slots = parts.map { ring.prepare($0.update, texts: $0.texts) }
            let all = slots.reduce(0, +)
            let used = ring.claimed.load(ordering: .relaxed) &- ring.released.load(ordering: .acquiring)
            guard used &+ all <= ring.capacity / 4 else { return nil }
            let last = ring.claimed.loadThenWrappingIncrement(by: all, ordering: .acquiringAndReleasing) &+ all
            var end = last
            for part in parts.reversed() {
                let count = slots.removeLast()
                _ = ring.prepare(part.update, texts: part.texts)
                ring.publish(from: end &- count &+ 1, slots: count)
                end = end &- count
            }
            return last
        }
    }

    // MARK: Consumer

    /// Sequence number of the last released slot.
    public var released: UInt64 { consuming.withLock { $0.released.load(ordering: .acquiring) } }

    /// Sequence number of the last slot that was claimed.
    public var claimed: UInt64 { consuming.withLock { $0.claimed.load(ordering: .acquiring) } }

    /// The part of the slots that waits to be released, 0 to 1.
    public var filling: Double {
        consuming.withLock { ring in
            let released = ring.released.load(ordering: .acquiring)
            return Double(ring.claimed.load(ordering: .acquiring) &- released) / Double(capacity)
        }
    }

    /// Updates shed so far.
    public var shed: Shed {
        consuming.withLock { ring in
            Shed(
                unbranded: ring.shedUnbranded.load(ordering: .relaxed),
                branded: ring.shedBranded.load(ordering: .relaxed))
        }
    }

    /// Begins to read after a position, even if later slots were released before.
    ///
    /// Call it before any producer works. A ledger that was restored to an older state so reads again the updates that
    /// the ring still has. After a power cut, a ring file on a disk may be older than the ledger. It would use numbers
    /// again that the ledger has passed, so it becomes another ring.
    /// - Returns: the position, or the nearest position in the ring.
    public func resume(after position: UInt64) -> UInt64 {
        consuming.withLock { ring in
            let last = ring.claimed.load(ordering: .acquiring)
            if position > last { ring.renew() }
            let first = last > ring.capacity ? last - ring.capacity : 0
            let reached = min(max(position, first), last)
            ring.released.store(reached, ordering: .releasing)
            return reached
        }
    }

    /// Begins to read after a position while producers work; released slots are not read again.
    ///
    /// A position that this ring has not reached belongs to an older state of its file. The ring becomes another one,
    /// as in `resume`.
    /// - Returns: the position, or the nearest position that is not released.
    public func join(after position: UInt64) -> UInt64 {
        consuming.withLock { ring in
            let released = ring.released.load(ordering: .acquiring)
            guard position <= max(dead, released) else {
                ring.renew()
                return released
            }
            ring.released.store(max(position, released), ordering: .releasing)
            return max(position, released)
        }
    }

    /// Passes the updates after `position` to `body`, oldest first, at most `limit` of them; frees nothing.
    ///
    /// Released slots are passed over, because producers may be writing there. `body` must not use the ring.
    /// - Parameter through: the last wanted position.
    /// - Returns: the position reached, for the next read, and the number of half-written slots and damaged updates.
    public func read(
        after position: UInt64, through wanted: UInt64 = .max, limit: Int, _ body: (CallUpdate, CallTexts?) -> Void
    ) -> (position: UInt64, skipped: Int) {
        consuming.withLock { ring in
            let last = ring.claimed.load(ordering: .acquiring)
            var next = max(position, ring.released.load(ordering: .acquiring))
            var skipped = 0
            var count = 0
            while next < min(last, wanted), count < limit {
                let number = next + 1
                count += 1
                if ring.slot(number).sequence.load(ordering: .acquiring) == number {
                    let (update, slots) = ring.load(from: number, through: last)
                    if let update { body(update, ring.texts) } else { skipped += 1 }
                    next += slots
                } else if number <= dead {
                    skipped += 1
                    next = number
                } else {
                    break  // begun, not yet published
                }
            }
            return (next, skipped)
        }
    }

    /// Frees the slots up to `position`: the ledger has their updates.
    public func release(through position: UInt64) {
        consuming.withLock { ring in
            let released = ring.released.load(ordering: .acquiring)
            let claimed = ring.claimed.load(ordering: .acquiring)
            ring.released.store(max(released, min(position, claimed)), ordering: .releasing)
        }
    }
}

/// The reason why the ring could not be opened, with path and remedy.
public struct UpdateRingError: Error, Hashable, CustomStringConvertible {
    public enum Problem: Error, Hashable, Sendable {
        case inUse
        case noSpace(bytes: Int)
        case system(String)
    }

    public let path: String
    public let problem: Problem

    public var description: String {
        switch problem {
        case .inUse:
            "the update ring \(path) is held by another running herald; stop it, or give this one its own ring file"
        case .noSpace(let bytes):
            "no space for the update ring \(path) (\(bytes) bytes); free some, or make the ring smaller"
        case .system(let reason):
            "cannot use the update ring \(path): \(reason); its folder must exist and belong to the user herald runs as"
        }
    }
}
