// SPDX-License-Identifier: Apache-2.0

import Atomics
import Glibc

/// The file of a ring in memory, for one of its two sides; unmapped at the end of its life.
///
/// `UpdateRingFile` and `UpdateSlot` describe the layout. One thread at a time.
struct UpdateRingMapping: ~Copyable {
    let capacity: UInt64
    private let base: UnsafeMutableRawPointer
    private let length: Int
    /// The bytes of one update before they go into slots, and after they come from slots.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: UpdateSlot.most * UpdateSlot.share, alignment: 8)

    /// - Parameter isPresent: true to map every page at once, so that no store waits for a page.
    /// - Throws: the reason of the system.
    init(_ file: UpdateRingFile, isPresent: Bool) throws(UpdateRingError.Problem) {
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

    /// Identifies this ring; positive.
    var ringID: Int64 { base.load(fromByteOffset: 24, as: Int64.self) }

    /// Gives this ring another identifier; no producer may use the ring meanwhile.
    func renew() {
        let header = UpdateRingFile.header(capacity: capacity, ringID: UInt64.random(in: 1...UInt64(Int64.max)))
        for (index, word) in header.enumerated() {
            base.storeBytes(of: word, toByteOffset: 8 + index * 8, as: UInt64.self)
        }
    }

    /// The last number claimed by a producer.
    var claimed: UnsafeAtomic<UInt64> { number(at: 64) }
    /// The last number released by the consumer.
    var released: UnsafeAtomic<UInt64> { number(at: 128) }
    var shedUnbranded: UnsafeAtomic<UInt64> { number(at: 192) }
    var shedBranded: UnsafeAtomic<UInt64> { number(at: 200) }

    /// Puts the bytes of an update together; returns how many slots they need.
    func prepare(_ update: borrowing CallUpdate, texts: CallTexts?) -> UInt64 {
        guard let buffer = scratch.baseAddress else { return 0 }
        return UInt64(UpdateSlot.count(for: UpdateBytes(base: buffer).store(update, texts: texts)))
    }

    /// Copies the prepared bytes into slots from `first` on, and publishes them.
    func publish(from first: UInt64, slots: UInt64) {
        for place in 0..<slots {
            slot(first + place).bytes.copyMemory(from: UnsafeRawBufferPointer(share(Int(place))))
        }
        slot(first).sequence.store(first, ordering: .releasing)
    }

    /// Reads the published update that begins at `first`, at most up to `last`; `texts` has its texts then.
    ///
    /// A damaged update is nil. It takes the slots of its length field if that is plausible, and one otherwise.
    func load(from first: UInt64, through last: UInt64) -> (update: CallUpdate?, slots: UInt64) {
        share(0).copyMemory(from: UnsafeRawBufferPointer(slot(first).bytes))
        guard let length = UpdateBytes.length(UnsafeRawBufferPointer(share(0))) else { return (nil, 1) }
        let slots = UInt64(UpdateSlot.count(for: length))
        guard slots <= last - first + 1 else { return (nil, 1) }
        for place in 1..<max(slots, 1) {
            share(Int(place)).copyMemory(from: UnsafeRawBufferPointer(slot(first + place).bytes))
        }
        return (UpdateBytes.load(UnsafeRawBufferPointer(rebasing: scratch[..<length])), slots)
    }

    /// The texts of the update that `load` has read; nil for one without texts.
    var texts: CallTexts? { UpdateBytes.texts(of: UnsafeRawBufferPointer(scratch)) }

    private func share(_ place: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: scratch[place * UpdateSlot.share..<(place + 1) * UpdateSlot.share])
    }

    /// The slot of a number, from 1.
    func slot(_ number: UInt64) -> UpdateSlot {
        let place = Int((number &- 1) % capacity)
        return UpdateSlot(base: base + UpdateRingFile.headerSize + place &* UpdateSlot.size)
    }

    private func number(at offset: Int) -> UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: (base + offset).assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }
}
