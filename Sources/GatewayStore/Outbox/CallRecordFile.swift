// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that call records are appended to, for the operator's own systems to read and rotate.
///
/// Lines go in whole or not at all, and are on the disk when `append` returns; a line that a kill or a power cut has left
/// unfinished is taken back by the next `append`, whose caller still has it. A file that was renamed or removed is left
/// alone and made anew, so `mv` is all it takes to rotate it. One thread at a time.
package struct CallRecordFile {
    private let path: String
    /// The first line of a new file; empty for none.
    private let titles: String

    package init(path: String, titles: String = "") {
        self.path = path
        self.titles = titles
    }

    /// Appends lines, each with its end.
    ///
    /// - Throws: `CallRecordFileError`; nothing of the lines is in the file then.
    package func append(_ lines: String) throws(CallRecordFileError) {
        // Opened each time: whatever was done to the path meanwhile is seen, and a call a second costs nothing here.
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw failed("open") }
        defer { close(descriptor) }
        let length = finished(descriptor)
        var bytes = Array(((length == 0 ? titles : "") + lines).utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw undone(descriptor, length, failed("write to")) }
            bytes = bytes.dropFirst(written)
        }
        guard fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw undone(descriptor, length, failed("write to"))
        }
    }

    /// Takes back an unfinished last line and returns the length that is left; -1 of what is no file.
    private func finished(_ descriptor: CInt) -> off_t {
        let length = lseek(descriptor, 0, SEEK_END)
        guard length > 0 else { return length }
        // No record is longer; text of another origin without any line end in it stays as it is.
        var tail = [UInt8](repeating: 0, count: Int(min(length, 1 << 20)))
        let count = pread(descriptor, &tail, tail.count, length - off_t(tail.count))
        guard count == tail.count, tail.last != 10, let end = tail.lastIndex(of: 10) else { return length }
        let whole = length - off_t(tail.count - 1 - end)
        return ftruncate(descriptor, whole) == 0 ? whole : length
    }

    /// Takes back what a full disk has cut off.
    private func undone(_ descriptor: CInt, _ length: off_t, _ error: CallRecordFileError) -> CallRecordFileError {
        _ = ftruncate(descriptor, length)
        return error
    }

    private func failed(_ action: String) -> CallRecordFileError {
        CallRecordFileError(path: path, problem: "cannot \(action) it: \(String(cString: strerror(errno)))")
    }
}

/// Why call records could not be written.
package struct CallRecordFileError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let problem: String

    package var description: String { "outcomes.cdr_file \(path): \(problem); its records wait in the ledger" }
}
