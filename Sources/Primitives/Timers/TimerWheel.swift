// SPDX-License-Identifier: Apache-2.0

/// A scheduled timer; without effect once that timer has fired or was cancelled.
public struct TimerHandle: Hashable, Sendable {
    /// Names no timer; cancelling it does nothing.
    public static let none = TimerHandle(index: 0, generation: 0)

    fileprivate let index: UInt32
    fileprivate let generation: UInt32
}

/// Timers by their deadline.
///
/// Scheduling and cancelling take constant time for any number of timers. Made for the timers of RFC 3261 §17, of which
/// nearly all are cancelled before they run out. Time is milliseconds of the owner's monotonic clock. Owned by one thread.
///
/// A hierarchy of wheels of 64 slots. The level of a timer is the highest group of six bits in which its deadline differs
/// from the present. It moves down as that time comes near, at most ten times. All timers live in one array, which grows
/// to the most timers at one time.
///
/// A step moves at most `movedAtOnce` timers to a finer level. At 2,000 calls/s 24,000 timers move together, in 2.2 ms.
public struct TimerWheel: Sendable {
    /// A timer that has run out.
    public struct Timer: Hashable, Sendable {
        /// The owner of the timer, as given when it was scheduled.
        public let id: UInt64
        /// The kind of the timer, as given when it was scheduled.
        public let kind: UInt8
        /// When it was due, in milliseconds.
        public let deadline: UInt64
    }

    /// How many timers are running.
    public private(set) var count = 0

    private var nodes: [Node] = []
    private var firstFree = Node.nowhere
    private var slots: [Slot]
    private var occupied: InlineArray<11, UInt64> = .init(repeating: 0)  // one bit for each slot that holds timers
    private var present: UInt64
    /// The slot whose timers move to finer levels, some at each step; `Node.nowhere` for none.
    private var moving = Node.nowhere

    private static let movedAtOnce = 256
    private static let levels = 11  // 11 × 6 bits hold every UInt64
    private static let slotsPerLevel = 64

    /// Makes an empty wheel.
    ///
    /// - Parameters:
    ///   - now: the present, in milliseconds.
    ///   - capacity: number of timers to reserve memory for; further ones only make the array grow.
    public init(now: UInt64, capacity: Int = 0) {
        present = now
        slots = Array(repeating: Slot(), count: Self.levels * Self.slotsPerLevel)
        nodes.reserveCapacity(capacity)
    }

    /// Starts a timer; a deadline in the past makes it due at once.
    ///
    /// Timers of one deadline fire in the order in which they were scheduled, but for one scheduled while many move.
    /// - Parameters:
    ///   - deadline: in milliseconds of the same clock as `now`.
    ///   - id: what the timer belongs to.
    ///   - kind: which of its owner's timers it is.
    public mutating func schedule(at deadline: UInt64, id: UInt64, kind: UInt8) -> TimerHandle {
        let index = takeNode()
        (nodes[index].id, nodes[index].deadline, nodes[index].kind) = (id, deadline, kind)
        link(index)
        count += 1
        return TimerHandle(index: UInt32(index), generation: nodes[index].generation)
    }

    /// Stops a timer.
    ///
    /// - Returns: false if it has fired or was cancelled before, which changes nothing.
    @discardableResult
    public mutating func cancel(_ handle: TimerHandle) -> Bool {
        let index = Int(handle.index)
        guard index < nodes.count, nodes[index].slot != Node.nowhere, nodes[index].generation == handle.generation
        else { return false }
        unlink(index)
        release(index)
        return true
    }

    /// A time before which no timer is due and nothing is to be done; nil without timers.
    ///
    /// For a timer far away this is a little early: waking then moves it to a finer level. While timers move it is the
    /// present. Constant time.
    public var nextDeadline: UInt64? {
        if moving != Node.nowhere, count > 0 { return present }
        return nextSlot.map { max($0.time, present) }
    }

    /// Removes and returns the next timer due by `now`, earliest first, and moves the present on.
    ///
    /// Nil when none is left, or after a step of moves to a finer level, so that the owner can do other work.
    /// `nextDeadline` is later than `now` once none is left. Timers may be scheduled and cancelled between two calls. A
    /// clock that runs backwards is ignored.
    public mutating func popDue(by now: UInt64) -> Timer? {
        guard moving == Node.nowhere || moveSome() else { return nil }
        while let next = nextSlot, next.time <= max(now, present) {
            present = max(present, next.time)
            if next.level == 0 {
                let index = slots[next.slot].head
                let timer = nodes[index].timer
                unlink(index)
                release(index)
                return timer
            }
            moving = next.slot
            guard moveSome() else { return nil }
        }
        present = max(present, now)
        return nil
    }
}

extension TimerWheel {
    /// One place in the array of timers; chained into a slot while it runs, into the free list while it does not.
    ///
    /// 32 bytes: each call keeps three or four for half a minute.
    private struct Node {
        static let nowhere = -1

        var id: UInt64 = 0
        var deadline: UInt64 = 0
        private var nextPlace: Int32 = -1
        private var previousPlace: Int32 = -1
        var generation: UInt32 = 1  // never 0, so that the handle for none matches nothing
        private var slotPlace: Int16 = -1
        var kind: UInt8 = 0

        var timer: Timer { Timer(id: id, kind: kind, deadline: deadline) }
        var next: Int {
            get { Int(nextPlace) }
            set { nextPlace = Int32(newValue) }
        }
        var previous: Int {
            get { Int(previousPlace) }
            set { previousPlace = Int32(newValue) }
        }
        var slot: Int {
            get { Int(slotPlace) }
            set { slotPlace = Int16(newValue) }
        }
    }

    private struct Slot {
        var head = Node.nowhere
        var tail = Node.nowhere
    }

    /// The slot whose time comes next: the lowest level in use, because a higher one differs in a higher bit.
    private var nextSlot: (level: Int, slot: Int, time: UInt64)? {
        for level in 0..<Self.levels where occupied[level] != 0 {
            let position = occupied[level].trailingZeroBitCount
            let base = present & (UInt64.max << UInt64(6 * (level + 1)))  // a shift by 64 or more gives zero
            let time = base | UInt64(position) << UInt64(6 * level)
            return (level, level * Self.slotsPerLevel + position, time)
        }
        return nil
    }

    private func slot(for deadline: UInt64) -> Int {
        let due = max(deadline, present)
        let level = (63 - ((due ^ present) | 1).leadingZeroBitCount) / 6
        return level * Self.slotsPerLevel + Int((due >> UInt64(6 * level)) & 63)
    }

    /// Moves timers of the slot whose time has come to finer levels; false while some are left.
    ///
    /// None is added to it meanwhile: the present lies in it, so what comes due there goes to a finer level at once.
    private mutating func moveSome() -> Bool {
        for _ in 0..<Self.movedAtOnce {
            let index = slots[moving].head
            guard index != Node.nowhere else { break }
            unlink(index)
            link(index)
        }
        guard slots[moving].head == Node.nowhere else { return false }
        moving = Node.nowhere
        return true
    }

    private mutating func link(_ index: Int) {
        let slot = slot(for: nodes[index].deadline)
        let tail = slots[slot].tail
        nodes[index].slot = slot
        nodes[index].previous = tail
        nodes[index].next = Node.nowhere
        if tail == Node.nowhere {
            slots[slot].head = index
            occupied[slot / Self.slotsPerLevel] |= 1 << UInt64(slot % Self.slotsPerLevel)
        } else {
            nodes[tail].next = index
        }
        slots[slot].tail = index
    }

    private mutating func unlink(_ index: Int) {
        let node = nodes[index]
        if node.previous == Node.nowhere {
            slots[node.slot].head = node.next
        } else {
            nodes[node.previous].next = node.next
        }
        if node.next == Node.nowhere {
            slots[node.slot].tail = node.previous
        } else {
            nodes[node.next].previous = node.previous
        }
        if slots[node.slot].head == Node.nowhere {
            occupied[node.slot / Self.slotsPerLevel] &= ~(1 << UInt64(node.slot % Self.slotsPerLevel))
        }
    }

    private mutating func takeNode() -> Int {
        guard firstFree != Node.nowhere else {
            nodes.append(Node())
            return nodes.count - 1
        }
        let index = firstFree
        firstFree = nodes[index].next
        return index
    }

    private mutating func release(_ index: Int) {
        nodes[index].slot = Node.nowhere
        nodes[index].generation = max(1, nodes[index].generation &+ 1)
        nodes[index].next = firstFree
        firstFree = index
        count -= 1
    }
}
