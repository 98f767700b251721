// SPDX-License-Identifier: Apache-2.0

package import Branding
import CLinux
import Dispatch
import Glibc

/// Makes a square of a picture; the real one runs the decoder in a process of its own.
package typealias LogoShaper =
    @Sendable (_ bytes: [UInt8], _ size: Int, _ format: LogoPicture.Format) async throws(LogoProblem) -> [UInt8]

/// Runs `herald scale-logo` for one picture and one size, so that whatever a decoder does to itself ends there.
///
/// Picture and result travel through memory files; the child has no other descriptor, no environment, and ends by itself.
package struct LogoScaler: Sendable {
    /// The program; the running one by default, even after its file was replaced.
    package var executable = "/proc/self/exe"
    /// Longest result in bytes that is taken.
    package var limit = 8 << 20
    package var maxPixels: Int
    package var maxFile: Int

    package init(maxPixels: Int, maxFile: Int) {
        self.maxPixels = maxPixels
        self.maxFile = maxFile
    }

    /// Waits on a thread of its own for the child, which lives ten seconds at the most.
    package func square(
        _ bytes: [UInt8], size: Int, format: LogoPicture.Format
    ) async throws(LogoProblem) -> [UInt8] {
        let result: Result<[UInt8], LogoProblem> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                continuation.resume(returning: run(bytes, size: size, format: format))
            }
        }
        return try result.get()
    }

    private func run(_ bytes: [UInt8], size: Int, format: LogoPicture.Format) -> Result<[UInt8], LogoProblem> {
        let source = herald_memory_file()
        let square = herald_memory_file()
        defer {
            if source >= 0 { close(source) }
            if square >= 0 { close(square) }
        }
        guard source >= 0, square >= 0, write(bytes, to: source), lseek(source, 0, SEEK_SET) == 0 else {
            return .failure(.scaling("no memory file: \(String(cString: strerror(errno)))"))
        }
        let arguments = [
            "herald", "scale-logo", "--size", "\(size)", "--format", format.rawValue, "--max-pixels", "\(maxPixels)",
            "--max-file", "\(maxFile)",
        ]
        let child: pid_t
        switch spawn(arguments, input: source, output: square) {
        case .success(let id): child = id
        case .failure(let problem): return .failure(problem)
        }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return .failure(.scaling(String(cString: strerror(errno)))) }
        }
        guard status == 0 else { return .failure(.scaling(Self.reason(status))) }
        guard let result = read(square) else { return .failure(.scaling("the result is not usable")) }
        return .success(result)
    }

    private func spawn(_ arguments: [String], input: CInt, output: CInt) -> Result<pid_t, LogoProblem> {
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let code = herald_spawn(executable, &words, input, output, &child)
        guard code == 0 else { return .failure(.scaling("no process: \(String(cString: strerror(code)))")) }
        return .success(child)
    }

    private func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func read(_ descriptor: CInt) -> [UInt8]? {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        guard (1...limit).contains(length) else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, length, 0) }
        return count == length ? bytes : nil
    }

    /// What the child's end means; its exit codes are those of `LogoScalingError`.
    private static func reason(_ status: CInt) -> String {
        let signal = status & 0x7F
        guard signal == 0 else { return "the decoder was stopped by signal \(signal)" }
        switch status >> 8 & 0xFF {
        case 65: return "it is refused"
        case 66: return "it cannot be decoded"
        case 67: return "it takes too much memory"
        case 68: return "the decoder could not be confined on this system"
        case let code: return "the decoder ended with \(code)"
        }
    }
}
