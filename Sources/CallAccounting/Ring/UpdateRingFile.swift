// SPDX-License-Identifier: Apache-2.0

import Atomics
import Glibc

/// Opens, checks and sets aside the file of a ring; `UpdateRingMapping` maps it.
///
/// The first 4,096 bytes are the header. The slots follow.
///
/// | bytes | content |
/// |---|---|
/// | 0 | magic |
/// | 8 | version of this layout |
/// | 16 | number of slots |
/// | 24 | ring id: random, positive, new with every file |
/// | 32 | the four numbers above, mixed; reveals a damaged header |
/// | 64 | last sequence number claimed by a producer |
/// | 128 | last sequence number released by the consumer |
/// | 192, 200 | updates shed: of unbranded calls, of branded calls |
struct UpdateRingFile: Sendable {
    static let headerSize = 4096
    private static let magic: UInt64 = 0x4845_5241_4c44_5231  // "HERALDR1"
    private static let version: UInt64 = 2

    let capacity: UInt64
    let descriptor: CInt
    /// Slots that were not released when the file was opened.
    private let pending: UInt64

    /// Opens the file at `path` if it is a ring, else creates one there.
    ///
    /// The file is locked, so a second gateway on the same ring does not start. The kernel frees the lock of a dead
    /// process.
    /// - Parameter capacity: slots of a new file. A ring of another size is kept while it holds unstored updates, and
    ///   replaced otherwise.
    static func open(path: String, capacity: Int) throws(UpdateRingError) -> (UpdateRingFile, UpdateRing.Opening) {
        let descriptor = try lock(path: path)
        switch inspect(descriptor, path: path) {
        case .empty:
            return (try create(descriptor, path: path, capacity: capacity), .created)
        case .ring(let file) where file.capacity == UInt64(capacity) || file.pending > 0:
            return (file, .resumed(pending: file.pending, capacity: Int(file.capacity)))
        case .ring:
            guard ftruncate(descriptor, 0) == 0 else { throw failed("truncate", path, descriptor) }
            return (try create(descriptor, path: path, capacity: capacity), .created)
        case .foreign(let problem):
            let aside = path + ".aside"
            guard rename(path, aside) == 0 else { throw failed("set aside", path, descriptor) }
            _ = Glibc.close(descriptor)
            let fresh = try lock(path: path)
            let file = try create(fresh, path: path, capacity: capacity)
            return (file, .replaced(setAside: aside, problem: problem))
        }
    }

    /// Makes a file without a name: in memory, else in the folder for temporary files.
    ///
    /// - Returns: the file and its folder.
    static func openNameless(capacity: Int) throws(UpdateRingError) -> (UpdateRingFile, path: String) {
        var last = UpdateRingError(path: "/dev/shm", problem: .system("no place for it"))
        for folder in ["/dev/shm", "/tmp"] {
            var path = Array((folder + "/herald-ring-XXXXXX").utf8CString)
            let descriptor = mkstemp(&path)
            guard descriptor >= 0 else {
                last = UpdateRingError(path: folder, problem: .system(String(cString: strerror(errno))))
                continue
            }
            unlink(path)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            do throws(UpdateRingError) {
                return (try create(descriptor, path: folder, capacity: capacity), folder)
            } catch {
                last = error
            }
        }
        throw last
    }

    /// Bytes of the whole file.
    var length: Int { Self.headerSize + Int(capacity) * UpdateSlot.size }

    /// Closes the file; its mappings stay.
    func close() { _ = Glibc.close(descriptor) }

    // MARK: Opening

    private enum Content {
        case empty
        case ring(UpdateRingFile)
        case foreign(String)
    }

    private static func lock(path: String) throws(UpdateRingError) -> CInt {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failed("open", path, -1) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            _ = Glibc.close(descriptor)
            throw UpdateRingError(path: path, problem: .inUse)
        }
        return descriptor
    }

    private static func inspect(_ descriptor: CInt, path: String) -> Content {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return .empty }
        let length = Int(status.st_size)
        var header = [UInt64](repeating: 0, count: headerSize / 8)
        guard length > headerSize, pread(descriptor, &header, headerSize, 0) == headerSize else {
            return .foreign("is \(length) bytes long, which no update ring is")
        }
        let word = { (offset: Int) in header[offset / 8] }
        let (magic, version, capacity, ringID) = (word(0), word(8), word(16), word(24))
        var problem: String?
        if magic != Self.magic {
            problem = "does not begin as a update ring"
        } else if version != Self.version {
            problem = "is of version \(version); this herald writes version \(Self.version)"
        } else if word(32) != mix(version, capacity, ringID)
            || capacity > UInt64(length) || headerSize + Int(capacity) * UpdateSlot.size != length
            || word(128) > word(64) || word(64) > Int64.max
        {
            problem = "has a damaged header"
        }
        if let problem { return .foreign(problem) }
        return .ring(
            UpdateRingFile(
                capacity: capacity, descriptor: descriptor, pending: word(64) - word(128)))
    }

    private static func create(
        _ descriptor: CInt, path: String, capacity: Int
    ) throws(UpdateRingError) -> UpdateRingFile {
        let length = headerSize + capacity * UpdateSlot.size
        // Reserves the space: on a full tmpfs a later store would end the program (SIGBUS).
        let reserved = posix_fallocate(descriptor, 0, off_t(length))
        guard reserved == 0 else {
            _ = Glibc.close(descriptor)
            throw UpdateRingError(path: path, problem: .noSpace(bytes: length))
        }
        let ringID = UInt64.random(in: 1...UInt64(Int64.max))
        let header = header(capacity: UInt64(capacity), ringID: ringID)
        // The magic number comes last: a start that was cut off leaves a file that the next start sets aside.
        guard pwrite(descriptor, header, 32, 8) == 32, pwrite(descriptor, [magic], 8, 0) == 8 else {
            throw failed("write", path, descriptor)
        }
        return UpdateRingFile(
            capacity: UInt64(capacity), descriptor: descriptor, pending: 0)
    }

    /// The words of the header from byte 8 on.
    static func header(capacity: UInt64, ringID: UInt64) -> [UInt64] {
        [version, capacity, ringID, mix(version, capacity, ringID)]
    }

    private static func mix(_ version: UInt64, _ capacity: UInt64, _ ringID: UInt64) -> UInt64 {
        (magic ^ ringID) &* 0x9e37_79b9_7f4a_7c15 &+ (version << 48 ^ capacity)
    }

    private static func failed(_ action: String, _ path: String, _ descriptor: CInt) -> UpdateRingError {
        let reason = String(cString: strerror(errno))
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        return UpdateRingError(path: path, problem: .system("\(action): \(reason)"))
    }
}
