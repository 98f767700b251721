// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Glibc
import HostSystem

/// The signals taken from the ring and not yet made rows of: a file of fixed size beside the ledger.
///
/// SQLite writes whole pages for each row a signal changes; this is one write of some kilobytes to room that is there
/// already, so it needs neither room on the disk nor a change of the file's size. What it holds is in the ledger once the
/// ledger's position of the ring has passed it; it is written from its beginning again then. One thread at a time.
///
/// Records lie one after the other:
///
/// | bytes | what |
/// |---|---|
/// | 0 | magic |
/// | 8 | ring id |
/// | 16, 24 | position in that ring before the signals, and after them |
/// | 32 | number of bytes that follow the head |
/// | 40 | checksum of all of it but itself |
/// | 48 | `PackedSignals` |
///
/// A record counts where the one before it ends, the first where the ledger's position is: records of an earlier round
/// of the file, and one that a kill or a power cut has torn, fit nowhere. (No position is ever used twice: a ring that
/// comes back older than the ledger gets another id, see `SignalRing.resume`.) In the machine's own byte order.
struct SignalLog: ~Copyable {
    private static let magic: UInt64 = 0x4845_5241_4c44_4c31  // "HERALDL1"
    private static let headSize = 48

    private let path: String
    private let descriptor: CInt
    private let size: Int
    /// Where the next record goes.
    private var end = 0

    /// Bytes that are free.
    var room: Int { max(0, size - end - Self.headSize) }

    /// Opens the file, or makes it with all its room.
    ///
    /// - Parameter size: bytes of it; one of another size is made anew, and what it holds is gone.
    /// - Throws: `SignalLogError`; on a full disk where it has to be made.
    init(path: String, size: Int) throws(SignalLogError) {
        self.path = path
        self.size = size
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SignalLogError(path: path, code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SignalLogError(path: path, code: errno) }
        guard status.st_size != size else { return }
        // Written and not only reserved: a first write to reserved blocks changes the file system's own records.
        let isMade = ftruncate(descriptor, 0) == 0 && Self.zero(0..<size, of: descriptor) && fsync(descriptor) == 0
        guard !isMade else { return }
        let code = errno
        _ = ftruncate(descriptor, 0)
        throw SignalLogError(path: path, code: code)
    }

    deinit { close(descriptor) }

    /// Adds the signals between two positions of a ring; they are on the disk when this returns.
    ///
    /// There must be room for them.
    /// - Throws: `SignalLogError`; nothing was added then.
    mutating func append(
        _ signals: borrowing PackedSignals, ringID: Int64, after: UInt64, through: UInt64
    ) throws(SignalLogError) {
        let head = Head(ringID: ringID, after: after, through: through, count: signals.bytes.count)
        let (descriptor, end) = (descriptor, end)
        let isWritten = signals.bytes.withUnsafeBytes { bytes in
            let record = [UInt8](unsafeUninitializedCapacity: Self.headSize + bytes.count) { buffer, count in
                let record = UnsafeMutableRawBufferPointer(buffer)
                head.store(to: record, checksum: head.checksum(of: bytes))
                UnsafeMutableRawBufferPointer(rebasing: record[Self.headSize...]).copyMemory(from: bytes)
                count = record.count
            }
            return record.withUnsafeBytes { Self.write($0, to: descriptor, at: end) } && fdatasync(descriptor) == 0
        }
        guard isWritten else { throw SignalLogError(path: path, code: errno) }
        self.end += Self.headSize + signals.bytes.count
    }

    /// Begins anew: all it holds is in the ledger.
    mutating func rewind() { end = 0 }

    /// Overwrites what is left of earlier rounds, so that no number stays longer than the ledger keeps it.
    ///
    /// - Throws: `SignalLogError`.
    func wipe() throws(SignalLogError) {
        guard Self.zero(end..<size, of: descriptor) else { throw SignalLogError(path: path, code: errno) }
    }

    /// Hands out the signals the ledger has not made rows of, oldest first.
    ///
    /// - Parameters:
    ///   - startsAnywhere: the first record counts whatever it comes after.
    ///   - position: the ledger's position in a ring; nil where it knows none.
    /// - Returns: the ring they came from and how far they reach in it; nil without any.
    /// - Throws: what `position` throws, or `SignalLogError`.
    func replay(
        startsAnywhere: Bool = false, position: (Int64) throws -> UInt64?, _ body: (CallSignal, CallTexts?) -> Void
    ) throws -> (ringID: Int64, position: UInt64)? {
        var content = [UInt8](repeating: 0, count: size)
        let count = pread(descriptor, &content, content.count, 0)
        guard count >= 0 else { throw SignalLogError(path: path, code: errno) }
        // What was read at once lies in memory in large pieces; see `zero`.
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        var reached: (ringID: Int64, position: UInt64)?
        try content.withUnsafeBytes { content in
            var rest = UnsafeRawBufferPointer(rebasing: content[..<count])
            while let head = Head(rest) {
                let record = UnsafeRawBufferPointer(rebasing: rest[Self.headSize..<Self.headSize + head.count])
                let start = startsAnywhere ? head.after : try position(head.ringID)
                let expected = reached?.position ?? start
                guard head.ringID == reached?.ringID ?? head.ringID, head.after == expected,
                    head.checksum(of: record) == Head.checksum(in: rest), let signals = PackedSignals.unpack(record)
                else { break }
                for (signal, texts) in signals { body(signal, texts) }
                reached = (head.ringID, head.through)
                rest = UnsafeRawBufferPointer(rebasing: rest[(Self.headSize + head.count)...])
            }
        }
        return reached
    }

    /// Page by page: of a large write the system keeps large pieces, and each flush of a record in one took 386 instead of
    /// 272 to 300 µs (Linux 6.18, ext4) and counted as 2 MB written.
    private static func zero(_ range: Range<Int>, of descriptor: CInt) -> Bool {
        let zeros = [UInt8](repeating: 0, count: 4_096)
        return stride(from: range.lowerBound, to: range.upperBound, by: zeros.count).allSatisfy { offset in
            zeros.withUnsafeBytes { zeros in
                let count = min(zeros.count, range.upperBound - offset)
                return write(UnsafeRawBufferPointer(rebasing: zeros[..<count]), to: descriptor, at: offset)
            }
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: Int) -> Bool {
        var (rest, offset) = (bytes, offset)
        while !rest.isEmpty {
            let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset))
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            offset += written
        }
        return true
    }

    private struct Head {
        let ringID: Int64
        let after: UInt64
        let through: UInt64
        let count: Int

        init(ringID: Int64, after: UInt64, through: UInt64, count: Int) {
            (self.ringID, self.after, self.through, self.count) = (ringID, after, through, count)
        }

        /// Nil where no record begins, or one that does not end there.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= headSize, bytes.loadUnaligned(as: UInt64.self) == magic else { return nil }
            ringID = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
            after = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            through = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
            let length = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
            guard length <= UInt64(bytes.count - headSize), after <= through, through <= Int64.max else { return nil }
            count = Int(length)
        }

        static func checksum(in bytes: UnsafeRawBufferPointer) -> UInt64 {
            bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
        }

        func checksum(of bytes: UnsafeRawBufferPointer) -> UInt64 {
            var sum = Checksum()
            withUnsafeBytes(of: (ringID, after, through, UInt64(count))) { sum.combine($0) }
            sum.combine(bytes)
            return sum.value
        }

        func store(to bytes: UnsafeMutableRawBufferPointer, checksum: UInt64) {
            bytes.storeBytes(of: magic, as: UInt64.self)
            bytes.storeBytes(of: ringID, toByteOffset: 8, as: Int64.self)
            bytes.storeBytes(of: after, toByteOffset: 16, as: UInt64.self)
            bytes.storeBytes(of: through, toByteOffset: 24, as: UInt64.self)
            bytes.storeBytes(of: UInt64(count), toByteOffset: 32, as: UInt64.self)
            bytes.storeBytes(of: checksum, toByteOffset: 40, as: UInt64.self)
        }
    }
}

/// Why the signal log cannot be used; without it every round writes to the ledger.
struct SignalLogError: Error, Hashable, CustomStringConvertible {
    let path: String
    /// The system's `errno`.
    let code: CInt

    var description: String { "cannot use the signal log \(path): \(SystemReason.text(code))" }
}
