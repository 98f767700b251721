// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Host
import Primitives

/// A file that should be a backup of `herald-directory backup`: one SQLite file without a log.
struct BackupFile {
    let path: String

    /// Examines kind and head of the file.
    ///
    /// - Throws: `RestoreProblem` for a file that no backup is.
    init(_ path: String) throws(RestoreProblem) {
        self.path = path
        var head = [UInt8](repeating: 0, count: 100)
        let descriptor = try Self.opened(path)
        defer { close(descriptor) }
        guard pread(descriptor, &head, head.count, 0) == head.count, head.starts(with: Array("SQLite format 3\0".utf8))
        else { throw RestoreProblem("\(path) is no SQLite database; name a file of herald-directory backup") }
        // The write and the read version of the format: 2 is that of a write-ahead log (Database File Format §1.3.3).
        let hasLog = ["-wal", "-journal"].contains { access(path + $0, F_OK) == 0 }
        guard head[18] == 1, head[19] == 1, !hasLog else {
            throw RestoreProblem(
                """
                \(path) is the file of an open database, which lacks the changes of its log; put it with its log into a folder \
                as directory.sqlite, run herald-directory backup NEW-FILE --state FOLDER, and restore the new file
                """)
        }
    }

    private static func opened(_ path: String) throws(RestoreProblem) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw RestoreProblem(
                "\(path) cannot be read: \(SystemError.text(errno)); name a file of herald-directory backup")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw RestoreProblem("\(path) is no regular file; name a file of herald-directory backup")
        }
        return descriptor
    }

    /// Copies the file to a new one for its owner, and waits until it is on the disk.
    func copy(to target: String) throws(RestoreProblem) {
        let source = try Self.opened(path)
        defer { close(source) }
        do {
            let copy = try PrivateFile.create(target)
            defer { close(copy) }
            try Self.copy(source, to: copy, target)
        } catch let error as FileReplacementError {
            throw RestoreProblem("\(target) cannot be written: \(error.reason)")
        } catch {
            throw error as? RestoreProblem ?? RestoreProblem("\(error)")
        }
    }

    private static func copy(_ source: Int32, to copy: Int32, _ target: String) throws {
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(source, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw RestoreProblem("the backup cannot be read: \(SystemError.text(errno))") }
            if count == 0 { break }
            var rest = block[..<count]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(copy, $0.baseAddress, $0.count) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw FileReplacementError(path: target, code: errno) }
                rest = rest.dropFirst(written)
            }
        }
        guard fsync(copy) == 0 else { throw FileReplacementError(path: target, code: errno) }
    }
}
