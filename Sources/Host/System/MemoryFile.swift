// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A file in memory for a child program, closed on exec; holds at most what was written to it.
public final class MemoryFile: Sendable {
    /// The reason for which there is none.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let descriptor: CInt

    /// Opens a file with this content, to be read from its start.
    ///
    /// - Parameter name: shown in `/proc` alone.
    public init(_ bytes: [UInt8], _ name: String) throws(Failure) {
        descriptor = herald_memory_file(name)
        guard descriptor >= 0, write(bytes), lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Failure(description: "no memory file: \(SystemError.text(errno))")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Returns the content, or nil if it is empty or longer than `limit`.
    public func content(limit: Int) -> [UInt8]? {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        guard (1...limit).contains(length) else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, length, 0) }
        return count == length ? bytes : nil
    }
}
