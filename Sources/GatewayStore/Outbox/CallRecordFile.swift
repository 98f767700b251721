// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Appends call records to a file that the operator's own systems read and rotate.
///
/// Lines are written whole or not at all, and are on the disk when `append` returns. The next `append` removes a line
/// that a kill or a power cut left unfinished; its caller still has the record. A renamed or removed file is left alone
/// and a new one made, so `mv` rotates it. One thread at a time.
package struct CallRecordFile {
    private let path: String
    /// The first line of a new file; empty for none.
    private let titles: String

    package init(path: String, titles: String = "") {
        self.path = path
        self.titles = titles
    }

    /// Appends lines with their line ends.
    ///
    /// - Throws: `CallRecordFileError`; the file has none of the lines then.
    package func append(_ lines: String) throws(CallRecordFileError) {
        // Opened each time, so that a rotation is noticed.
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

    /// Removes an unfinished last line and returns the remaining length; -1 for no file.
    private func finished(_ descriptor: CInt) -> off_t {
        let length = lseek(descriptor, 0, SEEK_END)
        guard length > 0 else { return length }
        // No record is longer. Foreign text without a line end stays.
        var tail = [UInt8](repeating: 0, count: Int(min(length, 1 << 20)))
        let count = pread(descriptor, &tail, tail.count, length - off_t(tail.count))
        guard count == tail.count, tail.last != 10, let end = tail.lastIndex(of: 10) else { return length }
        let whole = length - off_t(tail.count - 1 - end)
        return ftruncate(descriptor, whole) == 0 ? whole : length
    }

    /// Removes a line that a full disk has cut off.
    private func undone(_ descriptor: CInt, _ length: off_t, _ error: CallRecordFileError) -> CallRecordFileError {
        _ = ftruncate(descriptor, length)
        return error
    }

    private func failed(_ action: String) -> CallRecordFileError {
        CallRecordFileError(path: path, problem: "cannot \(action) it: \(String(cString: strerror(errno)))")
    }
}

/// The reason why call records could not be written.
package struct CallRecordFileError: Error, Hashable, CustomStringConvertible {
    package let path: String
    package let problem: String

    package var description: String { "outcomes.cdr_file \(path): \(problem); its records wait in the ledger" }
}
