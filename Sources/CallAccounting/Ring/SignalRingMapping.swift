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
    /// Where a signal is put together before it goes into slots, and after it came out of them.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: SignalSlot.most * SignalSlot.share, alignment: 8)

    /// - Parameter isPresent: whether every page is there when this returns, so that no store ever waits for one.
    /// - Throws: why the system does not map it.
    init(_ file: SignalRingFile, isPresent: Bool) throws(SignalRingError.Problem) {
        capacity = file.capacity
        length = file.length
        let flags = MAP_SHARED | (isPresent ? CInt(MAP_POPULATE) : 0)
        let address = mmap(nil, length, PROT_READ | PROT_WRITE, flags, file.descriptor, 0)
        guard let address, address != MAP_FAILED else {
            scratch.deallocate()
            throw .system("map: \(String(cString: strerror(errno)))")
        }
        base = address
        scratch.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        munmap(base, length)
        scratch.deallocate()
    }

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

    /// Puts a signal together; returns how many slots it needs.
    func prepare(_ signal: borrowing CallSignal, texts: CallTexts?) -> UInt64 {
        guard let room = scratch.baseAddress else { return 0 }
        return UInt64(SignalSlot.count(for: SignalBytes(base: room).store(signal, texts: texts)))
    }

    /// Copies what was prepared into slots from `first` on, and publishes it there.
    func publish(from first: UInt64, slots: UInt64) {
        for place in 0..<slots {
            slot(first + place).bytes.copyMemory(from: UnsafeRawBufferPointer(share(Int(place))))
        }
        slot(first).sequence.store(first, ordering: .releasing)
    }

    /// Reads the published signal that begins at `first`, and how many slots it takes; at most up to `last`.
    ///
    /// A damaged one is nil, and takes as many as it says if that is believable, else one.
    func load(from first: UInt64, through last: UInt64) -> (signal: (CallSignal, CallTexts?)?, slots: UInt64) {
        share(0).copyMemory(from: UnsafeRawBufferPointer(slot(first).bytes))
        guard let length = SignalBytes.length(UnsafeRawBufferPointer(share(0))) else { return (nil, 1) }
        let slots = UInt64(SignalSlot.count(for: length))
        guard slots <= last - first + 1 else { return (nil, 1) }
        for place in 1..<max(slots, 1) {
            share(Int(place)).copyMemory(from: UnsafeRawBufferPointer(slot(first + place).bytes))
        }
        return (SignalBytes.load(UnsafeRawBufferPointer(rebasing: scratch[..<length])), slots)
    }

    private func share(_ place: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: scratch[place * SignalSlot.share..<(place + 1) * SignalSlot.share])
    }

    /// The slot of a number, from 1.
    func slot(_ number: UInt64) -> SignalSlot {
        let place = Int((number &- 1) % capacity)
        return SignalSlot(base: base + SignalRingFile.headerSize + place &* SignalSlot.size)
    }

    private func number(at offset: Int) -> UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: (base + offset).assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }
}
