// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file read from its start to its end, or one that replaces another whole.
///
/// Owned by one thread. Closing is in `deinit`; a replacement that was not committed is removed there.
package final class WholeFile {
    /// Bytes in the file when it was opened for reading.
    let length: Int
    private let path: String
    private let temporaryPath: String?
    private let descriptor: CInt
    private var isCommitted = false

    /// Opens a regular file for reading.
    init(reading path: String) throws(BrandIndexFileError) {
        self.path = path
        temporaryPath = nil
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .missing(path: path) : .cannotRead(path: path, code: errno)
        }
        var status = stat()
        let code = fstat(descriptor, &status) != 0 ? errno : status.st_mode & S_IFMT != S_IFREG ? EINVAL : 0
        guard code == 0 else {
            close(descriptor)
            throw .cannotRead(path: path, code: code)
        }
        length = Int(status.st_size)
    }

    /// Opens a new file beside `path`; nobody else may replace the same path at the same time.
    package init(replacing path: String) throws(BrandIndexFileError) {
        self.path = path
        let temporaryPath = path + ".new"
        self.temporaryPath = temporaryPath
        length = 0
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw .cannotWrite(path: temporaryPath, code: errno) }
    }

    deinit {
        close(descriptor)
        if let temporaryPath, !isCommitted { unlink(temporaryPath) }
    }

    /// Reads the next `count` values, which must be there.
    func readArray<Element: BitwiseCopyable>(
        of type: Element.Type, _ count: Int
    ) throws(BrandIndexFileError) -> [Element] {
        var failure: BrandIndexFileError?
        let array = [Element](inLargePages: count) { buffer in
            let bytes = UnsafeMutableRawBufferPointer(
                start: buffer.baseAddress, count: count * MemoryLayout<Element>.stride)
            failure = fill(bytes)
            return failure == nil ? count : 0
        }
        if let failure { throw failure }
        return array
    }

    /// Writes all values at the end.
    package func write(_ values: [some BitwiseCopyable]) throws(BrandIndexFileError) {
        let code = values.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return errno }
                rest = rest.dropFirst(written)
            }
            return 0
        }
        if code != 0 { throw .cannotWrite(path: path, code: code) }
    }

    /// Puts the new file in the place of the old one and makes both steps last.
    package func commit() throws(BrandIndexFileError) {
        guard let temporaryPath, fsync(descriptor) == 0, rename(temporaryPath, path) == 0 else {
            throw .cannotWrite(path: path, code: errno)
        }
        isCommitted = true
        // The rename itself is on disk only when the folder is.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folderDescriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { throw .cannotWrite(path: folder, code: errno) }
        defer { close(folderDescriptor) }
        guard fsync(folderDescriptor) == 0 else { throw .cannotWrite(path: folder, code: errno) }
    }

    /// Reads until `bytes` is full; one call of read moves at most two gigabytes.
    private func fill(_ bytes: UnsafeMutableRawBufferPointer) -> BrandIndexFileError? {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let got = read(descriptor, rest.baseAddress, rest.count)
            if got < 0, errno == EINTR { continue }
            if got < 0 { return .cannotRead(path: path, code: errno) }
            if got == 0 { return .damaged(path: path) }
            done += got
        }
        return nil
    }
}
