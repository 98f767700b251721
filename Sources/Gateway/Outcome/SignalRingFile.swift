// SPDX-License-Identifier: Apache-2.0

import Atomics
import Glibc

/// The mapped file below a signal ring: opening, checking, setting aside and unmapping it.
///
/// The first 4,096 bytes are the header, the slots follow.
///
/// | bytes | what |
/// |---|---|
/// | 0 | magic |
/// | 8 | version of this layout |
/// | 16 | number of slots |
/// | 24 | ring id: random, positive, new with every file |
/// | 32 | the four numbers above, mixed: a header that does not agree with itself is damaged |
/// | 64 | last sequence number claimed by a producer |
/// | 128 | last sequence number the consumer has stored for good |
/// | 192, 200 | signals shed: of unbranded calls, of branded ones |
struct SignalRingFile {
    static let headerSize = 4096
    private static let magic: UInt64 = 0x4845_5241_4c44_5231  // "HERALDR1"
    private static let version: UInt64 = 1

    let base: UnsafeMutableRawPointer
    let length: Int
    let capacity: UInt64
    let ringID: Int64
    private let descriptor: CInt

    /// Maps the file at `path` if it is a ring, else creates one there; every page is present afterwards.
    ///
    /// The file is locked: a second gateway on the same ring is refused, and the kernel frees the lock of a dead one.
    /// - Parameter capacity: slots of a new file. A ring of another size is kept while it holds signals nobody has
    ///   stored yet, else replaced.
    static func open(path: String, capacity: Int) throws(SignalRingError) -> (SignalRingFile, SignalRing.Opening) {
        let descriptor = try lock(path: path)
        switch inspect(descriptor, path: path) {
        case .empty:
            return (try create(descriptor, path: path, capacity: capacity), .created)
        case .ring(let file) where file.capacity == UInt64(capacity) || file.pending > 0:
            return (file, .resumed(pending: file.pending, capacity: Int(file.capacity)))
        case .ring(let file):
            munmap(file.base, file.length)
            guard ftruncate(descriptor, 0) == 0 else { throw failed("truncate", path, descriptor) }
            return (try create(descriptor, path: path, capacity: capacity), .created)
        case .foreign(let problem):
            let aside = path + ".aside"
            guard rename(path, aside) == 0 else { throw failed("set aside", path, descriptor) }
            close(descriptor)
            let fresh = try lock(path: path)
            let file = try create(fresh, path: path, capacity: capacity)
            return (file, .replaced(setAside: aside, problem: problem))
        }
    }

    func unmap() {
        munmap(base, length)
        close(descriptor)
    }

    /// An atomic number of the header.
    func counter(at offset: Int) -> UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: (base + offset).assumingMemoryBound(to: UnsafeAtomic<UInt64>.Storage.self))
    }

    private var pending: UInt64 {
        let claimed = counter(at: 64).load(ordering: .acquiring)
        let consumed = counter(at: 128).load(ordering: .acquiring)
        return claimed > consumed ? claimed - consumed : 0
    }

    // MARK: Opening

    private enum Content {
        case empty
        case ring(SignalRingFile)
        case foreign(String)
    }

    private static func lock(path: String) throws(SignalRingError) -> CInt {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failed("open", path, -1) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw SignalRingError(path: path, problem: .inUse)
        }
        return descriptor
    }

    private static func inspect(_ descriptor: CInt, path: String) -> Content {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return .empty }
        let length = Int(status.st_size)
        guard length > headerSize, let base = map(descriptor, length: length) else {
            return .foreign("is \(length) bytes long, which no signal ring is")
        }
        let word = { (offset: Int) in base.load(fromByteOffset: offset, as: UInt64.self) }
        let (magic, version, capacity, ringID) = (word(0), word(8), word(16), word(24))
        var problem: String?
        if magic != Self.magic {
            problem = "does not begin as a signal ring"
        } else if version != Self.version {
            problem = "is of version \(version); this herald writes version \(Self.version)"
        } else if word(32) != mix(version, capacity, ringID)
            || capacity > UInt64(length) || headerSize + Int(capacity) * SignalSlot.size != length
            || word(128) > word(64)
        {
            problem = "has a damaged header"
        }
        if let problem {
            munmap(base, length)
            return .foreign(problem)
        }
        return .ring(
            SignalRingFile(
                base: base, length: length, capacity: capacity, ringID: Int64(truncatingIfNeeded: ringID),
                descriptor: descriptor))
    }

    private static func create(
        _ descriptor: CInt, path: String, capacity: Int
    ) throws(SignalRingError) -> SignalRingFile {
        let length = headerSize + capacity * SignalSlot.size
        // Takes the space now: on a tmpfs that is full, a later store would otherwise end the program (SIGBUS).
        let reserved = posix_fallocate(descriptor, 0, off_t(length))
        guard reserved == 0 else {
            close(descriptor)
            throw SignalRingError(path: path, problem: .noSpace(bytes: length))
        }
        guard let base = map(descriptor, length: length) else { throw failed("map", path, descriptor) }
        let ringID = UInt64.random(in: 1...UInt64(Int64.max))
        base.storeBytes(of: version, toByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: UInt64(capacity), toByteOffset: 16, as: UInt64.self)
        base.storeBytes(of: ringID, toByteOffset: 24, as: UInt64.self)
        base.storeBytes(of: mix(version, UInt64(capacity), ringID), toByteOffset: 32, as: UInt64.self)
        // Last, so that a start cut off half-way leaves a file that is set aside and not one that is trusted.
        base.storeBytes(of: magic, toByteOffset: 0, as: UInt64.self)
        return SignalRingFile(
            base: base, length: length, capacity: UInt64(capacity), ringID: Int64(ringID), descriptor: descriptor)
    }

    private static func map(_ descriptor: CInt, length: Int) -> UnsafeMutableRawPointer? {
        let address = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED | CInt(MAP_POPULATE), descriptor, 0)
        return address == MAP_FAILED ? nil : address
    }

    private static func mix(_ version: UInt64, _ capacity: UInt64, _ ringID: UInt64) -> UInt64 {
        (magic ^ ringID) &* 0x9e37_79b9_7f4a_7c15 &+ (version << 48 ^ capacity)
    }

    private static func failed(_ action: String, _ path: String, _ descriptor: CInt) -> SignalRingError {
        let reason = String(cString: strerror(errno))
        if descriptor >= 0 { close(descriptor) }
        return SignalRingError(path: path, problem: .system("\(action): \(reason)"))
    }
}
