// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads a regular file from start to end. Owned by one thread; `deinit` closes the file.
final class WholeFile {
    /// The file's length in bytes when it was opened.
    let length: Int
    private let path: String
    private let descriptor: CInt

    /// Opens a regular file for reading.
    init(reading path: String) throws(BrandIndexFileError) {
        self.path = path
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

    deinit { close(descriptor) }

    /// Reads the next `count` values. Fails if the file ends earlier.
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

    /// Reads until `bytes` is full. One `read` call transfers at most 2 GB.
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
