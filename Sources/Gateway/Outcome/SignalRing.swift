// SPDX-License-Identifier: Apache-2.0

import Atomics

/// The way of signals out of the call path: a fixed-size ring in a memory-mapped file that outlives the process.
///
/// `append` is plain stores into memory that is already there, then the signal's sequence number with release order:
/// no system call, no allocation, no lock. After a kill -9 the next process opens the same file and the consumer goes
/// on after the last sequence it has stored in its database together with what it made of it: nothing is lost and
/// nothing is applied twice. On tmpfs a power cut loses what the consumer has not yet taken.
///
/// A sequence number is claimed first and published last, so a slot whose producer died between the two is recognised:
/// it carries an older number than its place demands. Claiming is an atomic addition, so several producer
/// threads may append at once; as many slots as there may be producers stay free, because two may see the same free slot.
/// One consumer at a time.
///
/// **Deviation** from "a full ring sheds the oldest unbranded signals first": taking back old slots would need a lock
/// shared with the consumer. Instead, while less than an eighth of the slots is free, signals known to be of unbranded
/// calls are shed at the door and counted; with no slot free all are. What was accepted is never taken back.
//
// `@unchecked Sendable`, because the compiler cannot see who touches the mapped memory behind `file`. Why no two threads
// meet in it:
//
// 1. All stored properties are `let`s. The memory stays mapped until `deinit`, and a method's caller holds the ring for as
//    long as the method runs; no pointer into the memory leaves a method. Of processes one has the file (`flock`).
// 2. The header's numbers and each slot's number are touched atomically only; the header's constants are written before
//    `init` returns.
// 3. The rest of slot n is written by one thread: a number is claimed by an atomic addition, so it is nobody else's, and
//    the slot's former number, n − capacity, is released by then. For a claim is made only after a look that found
//    claimed − released ≤ capacity − margin − 1; `released` is read first and never falls, so this holds at the instant
//    `claimed` is read. Of the looks behind all claims made so far take the last. After its instant only its own
//    producer, and others that had looked before and not yet claimed, add to the number, each once:
//    margin + 1 = `producers` at the most. So claimed − released ≤ capacity after every claim.
// 4. The consumer reads slot n only with released < n (`read` begins there) and after it loaded the number n from the slot
//    with acquire order, which the producer stored with release order after its last byte. The next to write there is
//    n + capacity, by 3 not before n is released; that store (release order) comes after the reading and the producer
//    loads it (acquire order) before it claims.
// 5. `released` falls only in `resume`, which is called before any producer is at work.
//
// Kept by tests: "writers and a reader on threads of their own …", "a nearly full ring sheds …", "what is to be read
// again is not overwritten meanwhile", "reading begins no earlier …".
package final class SignalRing: @unchecked Sendable {
    /// How the ring came to be at start; worth one log line.
    package enum Opening: Hashable, Sendable {
        case created
        /// A ring of an earlier process; `pending` signals wait. A `capacity` other than the one asked for is kept
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
    package let ringID: Int64
    /// Number of slots.
    package let capacity: Int

    private let file: SignalRingFile
    /// Free slots below which unbranded signals are shed.
    private let reserve: UInt64
    /// Free slots that count as none, because other producers may be claiming them at this moment.
    private let margin: UInt64
    /// Numbers up to here were claimed by an earlier process: what is not published by now never will be.
    private let dead: UInt64

    /// Opens the ring at `path` or creates it there; its folder must exist.
    ///
    /// - Parameters:
    ///   - path: best on tmpfs (`/run/herald/signals.ring`); any file system works.
    ///   - capacity: slots of 512 bytes, at least 8; 65,536 take 32 MB.
    ///   - producers: how many threads append.
    /// - Throws: `SignalRingError` if the file cannot be made, or another running gateway holds it.
    package init(path: String, capacity: Int = 65_536, producers: Int = 1) throws(SignalRingError) {
        (file, opening) = try SignalRingFile.open(path: path, capacity: max(8, capacity))
        ringID = file.ringID
        self.capacity = Int(file.capacity)
        reserve = file.capacity / 8
        margin = UInt64(max(1, producers) - 1)
        dead = file.counter(at: 64).load(ordering: .acquiring)
    }

    deinit { file.unmap() }

    // MARK: Producer

    /// Puts one signal into the ring; the call path's only word to the outcome side.
    ///
    /// - Parameter texts: given with an `invite`, nil otherwise; longer ones are cut to their limits.
    /// - Returns: false if the signal was shed because the ring is (nearly) full; it is counted then.
    @discardableResult
    package func append(_ signal: borrowing CallSignal, texts: CallTexts? = nil) -> Bool {
        var free = freeSlots()
        // Held up between the two loads, a producer sees less than there is.
        if free <= reserve { free = freeSlots() }
        if free <= reserve {
            let unbranded = signal.reason != nil
            if unbranded || free <= margin {
                file.counter(at: unbranded ? 192 : 200).wrappingIncrement(ordering: .relaxed)
                return false
            }
        }
        let number = file.counter(at: 64).loadThenWrappingIncrement(ordering: .acquiringAndReleasing) &+ 1
        let slot = slot(number)
        slot.store(signal, texts: texts)
        slot.sequence.store(number, ordering: .releasing)
        return true
    }

    /// Slots that can be claimed at the instant `claimed` is read, or fewer; the order of the loads matters.
    private func freeSlots() -> UInt64 {
        let released = file.counter(at: 128).load(ordering: .acquiring)
        let used = file.counter(at: 64).load(ordering: .relaxed) &- released
        return used >= file.capacity ? 0 : file.capacity - used
    }

    // MARK: Consumer

    /// Sequence number of the last signal that was told to be stored for good.
    package var released: UInt64 { file.counter(at: 128).load(ordering: .acquiring) }

    /// Sequence number of the last signal that was begun.
    package var claimed: UInt64 { file.counter(at: 64).load(ordering: .acquiring) }

    /// Signals shed so far.
    package var shed: Shed {
        Shed(
            unbranded: file.counter(at: 192).load(ordering: .relaxed),
            branded: file.counter(at: 200).load(ordering: .relaxed))
    }

    /// Begins to read after a position: what came after it is kept until it is released, even if it was released before.
    ///
    /// Before any producer is at work. A ledger that was put back to an older state so reads again what the ring still has.
    /// - Returns: the position, or the nearest one the ring reaches.
    package func resume(after position: UInt64) -> UInt64 {
        let last = claimed
        let first = last > file.capacity ? last - file.capacity : 0
        let reached = min(max(position, first), last)
        file.counter(at: 128).store(reached, ordering: .releasing)
        return reached
    }

    /// Hands out what came after `position`, oldest first, at most `limit` signals; frees nothing.
    ///
    /// What is released already is passed over: producers may be writing there.
    /// - Returns: the position reached, to be passed again next time, and how many slots on the way were half-written
    ///   or damaged and skipped.
    package func read(
        after position: UInt64, limit: Int, _ body: (CallSignal, CallTexts?) -> Void
    ) -> (position: UInt64, skipped: Int) {
        let last = claimed
        var next = max(position, released)
        var skipped = 0
        var count = 0
        while next < last, count < limit {
            let number = next + 1
            let slot = slot(number)
            if slot.sequence.load(ordering: .acquiring) == number {
                if let (signal, texts) = slot.load() { body(signal, texts) } else { skipped += 1 }
            } else if number <= dead {
                skipped += 1
            } else {
                break  // begun, not yet published
            }
            next = number
            count += 1
        }
        return (next, skipped)
    }

    /// Frees the slots up to `position`: what they held is stored for good.
    package func release(through position: UInt64) {
        file.counter(at: 128).store(max(released, min(position, claimed)), ordering: .releasing)
    }

    private func slot(_ number: UInt64) -> SignalSlot {
        let place = Int((number &- 1) % file.capacity)
        return SignalSlot(base: file.base + SignalRingFile.headerSize + place &* SignalSlot.size)
    }
}

/// Why the signal ring could not be opened; says where and what to do.
package struct SignalRingError: Error, Hashable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
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
