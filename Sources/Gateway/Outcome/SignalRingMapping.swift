// SPDX-License-Identifier: Apache-2.0

import Atomics
import Glibc

/// A signal ring's file in memory, for one side of it; unmapped when it goes.
///
/// The layout is told at `SignalRingFile` and `SignalSlot`. Whoever holds it is on one thread.
struct SignalRingMapping: ~Copyable {
    let capacity: UInt64
    private let base: UnsafeMutableRawPointer
    private let length: Int

    /// - Parameter isPresent: whether every page is there when this returns, so that no store ever waits for one.
    /// - Throws: why the system does not map it.
    init(_ file: SignalRingFile, isPresent: Bool) throws(SignalRingError.Problem) {
        capacity = file.capacity
        length = file.length
        let flags = MAP_SHARED | (isPresent ? CInt(MAP_POPULATE) : 0)
        let address = mmap(nil, length, PROT_READ | PROT_WRITE, flags, file.descriptor, 0)
        guard let address, address != MAP_FAILED else { throw .system("map: \(String(cString: strerror(errno)))") }
        base = address
    }

    deinit { munmap(base, length) }

    /// Tells this ring from every other; positive.
    var ringID: Int64 { base.load(fromByteOffset: 24, as: Int64.self) }

    /// Makes this another ring than before; nobody else may be using it.
    func renew() {
        let header = SignalRingFile.header(capacity: capacity, ringID: UInt64.random(in: 1...UInt64(Int64.max)))
        for (index, word) in header.enumerated() {
            base.storeBytes(of: word, toByteOffset: 8 + index * 8, as: UInt64.self)
        }
    }

    /// The last number a producer has claimed.
    var claimed: UnsafeAtomic<UInt64> { number(at: 64) }
    /// The last number the consumer has kept for good.
    var released: UnsafeAtomic<UInt64> { number(at: 128) }
    var shedUnbranded: UnsafeAtomic<UInt64> { number(at: 192) }
    var shedBranded: UnsafeAtomic<UInt64> { number(at: 200) }

    /// The slot of a number, from 1.
    func slot(_ number: UInt64) -> SignalSlot {
        let place = Int((number &- 1) % capacity)
        return SignalSlot(base: base + SignalRingFile.headerSize + place &* SignalSlot.size)
    }

    private func number(at offset: Int) -> UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: (base + offset).assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }
}
