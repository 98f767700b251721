// SPDX-License-Identifier: Apache-2.0

import Atomics
import Synchronization

/// The way of signals out of the call path: a fixed-size ring in a memory-mapped file that outlives the process.
///
/// `append` is plain stores into memory that is already there, then the signal's sequence number with release order:
/// no system call, no allocation, no lock but the producers' own. After a kill -9 the next process opens the same file
/// and the consumer goes on after the last sequence it has kept, or stored together with what it made of it:
/// nothing is lost and nothing is applied twice. On tmpfs a power cut loses what the consumer has not yet taken.
///
/// A signal takes one slot or several in a row, each with a sequence number of its own; it has the number of its first. The
/// numbers are claimed first and the first is published last, so a slot whose producer died between the two is recognised:
/// it carries an older number than its place demands. Producers take turns by a lock that is held for one signal and by
/// no other kind of thread. One consumer at a time.
///
/// The two sides share no pointer: each has a mapping of its own behind a lock of its own, and meets the other in the
/// file alone, as two processes would. There three rules keep them apart:
///
/// 1. The numbers of the header and of the slots are touched atomically only.
/// 2. A producer writes slot n only when n − capacity is released: it loads `released` with acquire order, the
///    consumer stored it with release order after it had read. `released` falls only in `resume`, before any producer
///    is at work.
/// 3. The consumer reads slots from n on only with released < n, and after it loaded the number n from the first with
///    acquire order, which the producer stored with release order after the last byte of all.
///
/// **Deviation** from "a full ring sheds the oldest unbranded signals first": taking back old slots would need a lock
/// shared with the consumer. Instead, while less than an eighth of the slots is free, signals known to be of unbranded
/// calls are shed at the door and counted; with no slot free all are. What was accepted is never taken back.
package final class SignalRing: Sendable {
    /// How the ring came to be at start; worth one log line.
    package enum Opening: Hashable, Sendable {
        case created
        /// A ring of an earlier process; `pending` slots wait. A `capacity` other than the one asked for is kept
        /// until a start that finds the ring empty.
        case resumed(pending: UInt64, capacity: Int)
        /// The file there was no ring of this version; it was moved to `setAside`.
        case replaced(setAside: String, problem: String)
    }

    /// What a full ring has cost since the file was made.
    package struct Shed: Hashable, Sendable {
        /// Signals of calls known to be unbranded, shed while less than an eighth of the ring was free.
        package var unbranded: UInt64
        /// Signals of branded calls or of calls not known, shed because no slot was free.
        package var branded: UInt64
    }

    package let opening: Opening
    /// Tells this ring from every other; positive.
    ///
    /// Another one after a `resume` past its end.
    package var ringID: Int64 { consuming.withLock { $0.ringID } }
    /// Number of slots.
    package let capacity: Int

    private let file: SignalRingFile
    private let producing: Mutex<SignalRingMapping>
    private let consuming: Mutex<SignalRingMapping>
    /// Free slots below which unbranded signals are shed.
    private let reserve: UInt64
    /// Numbers up to here were claimed by an earlier process: what is not published by now never will be.
    private let dead: UInt64

    /// Opens the ring at `path` or creates it there; its folder must exist.
    ///
    /// - Parameters:
    ///   - path: best on tmpfs (`/run/herald/signals.ring`); any file system works.
    ///   - capacity: slots of 128 bytes, at least 8; 131,072 take 16 MB.
    /// - Throws: `SignalRingError` if the file cannot be made, or another running gateway holds it.
    package convenience init(path: String, capacity: Int = 131_072) throws(SignalRingError) {
        let (file, opening) = try SignalRingFile.open(path: path, capacity: max(8, capacity))
        try self.init(file, opening, path: path)
    }

    /// Makes a ring that ends with the process, for a gateway without a folder that can be written.
    package convenience init(inMemory capacity: Int) throws(SignalRingError) {
        let (file, path) = try SignalRingFile.openNameless(capacity: max(8, capacity))
        try self.init(file, .created, path: path)
    }

    private init(_ file: SignalRingFile, _ opening: Opening, path: String) throws(SignalRingError) {
        (self.file, self.opening) = (file, opening)
        capacity = Int(file.capacity)
        reserve = file.capacity / 8
        do {
            // Every page is there before the first call; the consumer can wait for its own.
            let mapping = try SignalRingMapping(file, isPresent: true)
            dead = mapping.claimed.load(ordering: .acquiring)
            producing = Mutex(mapping)
            consuming = Mutex(try SignalRingMapping(file, isPresent: false))
        } catch {
            file.close()
            throw SignalRingError(path: path, problem: error)
        }
    }

    deinit { file.close() }

    // MARK: Producer

    /// Puts one signal into the ring; the call path's only word to the outcome side.
    ///
    /// - Parameter texts: given with an `invite`, nil otherwise; longer ones are cut to their limits.
    /// - Returns: false if the signal was shed because the ring is (nearly) full; it is counted then.
    @discardableResult
    package func append(_ signal: CallSignal, texts: CallTexts? = nil) -> Bool {
        producing.withLock { ring in
            let slots = ring.prepare(signal, texts: texts)
            let used = ring.claimed.load(ordering: .relaxed) &- ring.released.load(ordering: .acquiring)
            let free = used >= ring.capacity ? 0 : ring.capacity - used
            let isUnbranded = signal.reason != nil
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

    // MARK: Consumer

    /// Sequence number of the last slot that was told to be kept for good.
    package var released: UInt64 { consuming.withLock { $0.released.load(ordering: .acquiring) } }

    /// Sequence number of the last slot that was claimed.
    package var claimed: UInt64 { consuming.withLock { $0.claimed.load(ordering: .acquiring) } }

    /// The part of the slots that waits to be released, 0 to 1.
    package var filling: Double {
        consuming.withLock { ring in
            let released = ring.released.load(ordering: .acquiring)
            return Double(ring.claimed.load(ordering: .acquiring) &- released) / Double(capacity)
        }
    }

    /// Signals shed so far.
    package var shed: Shed {
        consuming.withLock { ring in
            Shed(
                unbranded: ring.shedUnbranded.load(ordering: .relaxed),
                branded: ring.shedBranded.load(ordering: .relaxed))
        }
    }

    /// Begins to read after a position: what came after it is kept until it is released, even if it was released before.
    ///
    /// Before any producer is at work. A ledger that was put back to an older state so reads again what the ring still
    /// has. A ring that came back older than the ledger (a power cut, with its file on a disk) will use numbers once more
    /// that the ledger has passed: it becomes another ring, so that no position means two things.
    /// - Returns: the position, or the nearest one the ring reaches.
    package func resume(after position: UInt64) -> UInt64 {
        consuming.withLock { ring in
            let last = ring.claimed.load(ordering: .acquiring)
            if position > last { ring.renew() }
            let first = last > ring.capacity ? last - ring.capacity : 0
            let reached = min(max(position, first), last)
            ring.released.store(reached, ordering: .releasing)
            return reached
        }
    }

    /// Begins to read after a position while producers are at work: nothing that was released is read again.
    ///
    /// A position that no process has reached in this ring is of another life of it: the ring becomes another one, as in `resume`.
    /// - Returns: the position, or the nearest one that is not released.
    package func join(after position: UInt64) -> UInt64 {
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

    /// Hands out what came after `position`, oldest first, at most `limit` signals; frees nothing.
    ///
    /// What is released already is passed over: producers may be writing there. `body` must not ask the ring.
    /// - Parameter through: the last position that is wanted.
    /// - Returns: the position reached, to be passed again next time, and how many slots half-written and signals damaged
    ///   were skipped on the way.
    package func read(
        after position: UInt64, through wanted: UInt64 = .max, limit: Int, _ body: (CallSignal, CallTexts?) -> Void
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
                    let found = ring.load(from: number, through: last)
                    if let (signal, texts) = found.signal { body(signal, texts) } else { skipped += 1 }
                    next += found.slots
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

    /// Frees the slots up to `position`: what they held is kept for good.
    package func release(through position: UInt64) {
        consuming.withLock { ring in
            let released = ring.released.load(ordering: .acquiring)
            let claimed = ring.claimed.load(ordering: .acquiring)
            ring.released.store(max(released, min(position, claimed)), ordering: .releasing)
        }
    }
}

/// Why the signal ring could not be opened; says where and what to do.
package struct SignalRingError: Error, Hashable, CustomStringConvertible {
    package enum Problem: Error, Hashable, Sendable {
        case inUse
        case noSpace(bytes: Int)
        case system(String)
    }

    package let path: String
    package let problem: Problem

    package var description: String {
        switch problem {
        case .inUse:
            "the signal ring \(path) is held by another running herald; stop it, or give this one its own ring file"
        case .noSpace(let bytes):
            "no room for the signal ring \(path) (\(bytes) bytes); free some, or make the ring smaller"
        case .system(let reason):
            "cannot use the signal ring \(path): \(reason); its folder must exist and belong to the user herald runs as"
        }
    }
}
