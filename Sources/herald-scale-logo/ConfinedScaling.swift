// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The work of the short-lived process: reads a picture from standard input and writes it in a form for phones
/// to standard output.
enum ConfinedScaling {
    /// Bytes of memory beyond the program itself: for source, result and decoders.
    private static let memory: UInt = 256 << 20
    /// Seconds of CPU time.
    private static let patience: CUnsignedInt = 5
    /// Longest result in bytes.
    private static let output: UInt = 8 << 20

    /// Reads at most `maxFile` bytes, confines the process, decodes, and ends the process.
    ///
    /// - Parameter work: makes the result from the bytes of the picture.
    static func run(maxFile: Int, _ work: ([UInt8]) throws(LogoScalingError) -> [UInt8]) -> Never {
        let bytes = readAll(limit: maxFile)
        guard herald_confine(memory, patience, output) == 0 else { _exit(LogoScalingError.notConfined.rawValue) }
        do throws(LogoScalingError) {
            guard let bytes else { throw .tooLarge }
            writeAll(try work(bytes))
        } catch {
            _exit(error.rawValue)
        }
        _exit(0)
    }

    /// Reads standard input; nil if it is longer than `limit`.
    private static func readAll(limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = read(0, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        return nil
    }

    private static func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { _exit(1) }
            rest = rest.dropFirst(count)
        }
    }
}
