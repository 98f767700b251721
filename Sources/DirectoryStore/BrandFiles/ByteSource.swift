// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host

/// Reads a file, in pieces of 256 KiB, or an array byte by byte.
struct ByteSource {
    private var buffer: [UInt8]
    private var position = 0
    private let file: FileHandleOwner?

    /// Reads an array.
    init(_ bytes: [UInt8]) {
        buffer = bytes
        file = nil
    }

    /// Opens a file.
    ///
    /// - Throws: `Unreadable`.
    init(path: String) throws(Unreadable) {
        file = try FileHandleOwner(path: path)
        buffer = []
    }

    /// Reasons for which a file cannot be opened.
    enum Unreadable: Error {
        case folder
        case refused(String)
    }

    /// Bytes of the file that are read, and its size; both 0 for an array.
    var progress: (read: Int, size: Int) { (file?.readBytes ?? 0, file?.size ?? 0) }

    /// True after a read error.
    var hasFailed: Bool { file?.hasFailed ?? false }

    /// The next byte without consuming it; nil at the end.
    mutating func peek() -> UInt8? {
        if position < buffer.count { return buffer[position] }
        guard let file else { return nil }
        buffer = file.read()
        position = 0
        return buffer.first
    }

    /// The next byte.
    mutating func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        position += 1
        return byte
    }

    /// Skips a UTF-8 byte order mark; must be the first call.
    mutating func skipByteOrderMark() {
        _ = peek()
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The first byte of the first piece after blanks, line ends and a byte order mark; nil without one.
    mutating func firstVisibleByte() -> UInt8? {
        _ = peek()
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return buffer.dropFirst(buffer.starts(with: mark) ? 3 : 0).first { ![9, 10, 13, 32].contains($0) }
    }

    /// The next line that is not empty, without consuming it; at least the first `limit` bytes of a longer line.
    mutating func lineAhead(limit: Int) -> ArraySlice<UInt8> {
        _ = peek()
        while true {
            let ahead = buffer[position...].drop { $0 == 10 || $0 == 13 }
            if let end = ahead.firstIndex(where: { $0 == 10 || $0 == 13 }) { return ahead[..<end] }
            guard ahead.count < limit, let more = file?.read(), !more.isEmpty else { return ahead }
            buffer = Array(buffer[position...]) + more
            position = 0
        }
    }

    /// Consumes bytes up to a stop byte, which stays, or to the end; keeps the first `limit` bytes.
    mutating func bytes(until stops: (UInt8) -> Bool, limit: Int) -> (bytes: [UInt8], isCut: Bool) {
        var found: [UInt8] = []
        var isCut = false
        while peek() != nil {
            let end = buffer[position...].firstIndex(where: stops) ?? buffer.count
            let piece = buffer[position..<end]
            isCut = isCut || found.count + piece.count > limit
            found += piece.prefix(max(limit - found.count, 0))
            position = end
            if end < buffer.count { break }
        }
        return (found, isCut)
    }
}

/// An open file descriptor, closed on deinitialisation.
private final class FileHandleOwner {
    private let descriptor: Int32
    private(set) var hasFailed = false
    private(set) var readBytes = 0
    /// 0 for a pipe.
    let size: Int

    init(path: String) throws(ByteSource.Unreadable) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .refused(SystemError.text(errno)) }
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        size = isKnown && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
        if isKnown, status.st_mode & S_IFMT == S_IFDIR { throw .folder }
    }

    deinit { close(descriptor) }

    /// The next piece; empty at the end and after an error.
    func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
            var got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            while got < 0, errno == EINTR { got = Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
            hasFailed = hasFailed || got < 0
            count = max(got, 0)
            readBytes += count
        }
    }
}
