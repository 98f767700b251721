// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The memory that the process may use: the machine's, or the lower limit of its control groups.
///
/// Reads `memory.max` and `memory.high` of cgroup v2 and `memory.limit_in_bytes` of v1, for the process's group and all
/// groups above it (cgroups(7)).
public struct MemoryLimit: Hashable, Sendable {
    public let bytes: UInt64
    /// `RAM`, or the file that names the limit.
    public let source: String

    /// Returns the present limit of this process.
    ///
    /// - Parameter root: the folder with `proc` and `sys`; another one in tests.
    public static func current(root: String = "", ram: UInt64 = physicalMemory) -> MemoryLimit {
        let groups = text(root + "/proc/self/cgroup") ?? ""
        var lowest = MemoryLimit(bytes: ram, source: "RAM")
        for file in files(ofGroups: groups) {
            guard let bytes = text(root + file).flatMap(read), bytes < lowest.bytes else { continue }
            lowest = MemoryLimit(bytes: bytes, source: file)
        }
        return lowest
    }

    /// The machine's memory in bytes.
    public static var physicalMemory: UInt64 {
        let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
        return pages > 0 && size > 0 ? UInt64(pages) * UInt64(size) : 1 << 30
    }

    /// Returns the possible limit files for a content of `/proc/self/cgroup`.
    static func files(ofGroups text: String) -> [String] {
        text.split(separator: "\n").flatMap { line -> [String] in
            // hierarchy-ID:controllers:path
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            let isSecond = parts[0] == "0" && parts[1].isEmpty
            guard isSecond || parts[1].split(separator: ",").contains("memory") else { return [] }
            let folder = isSecond ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"
            let names = isSecond ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
            return foldersUpwards(from: parts[2]).flatMap { path in names.map { "\(folder)\(path)/\($0)" } }
        }
    }

    /// Returns a group's path and the paths above it, with an empty path for the root.
    ///
    /// A path out of its namespace counts as the root.
    private static func foldersUpwards(from path: Substring) -> [String] {
        var steps = path.split(separator: "/")
        if steps.contains("..") { steps = [] }
        return (0...steps.count).reversed().map { steps.prefix($0).map { "/\($0)" }.joined() }
    }

    /// Reads the bytes of a limit file; nil for `max`, and for the huge number that means no limit in v1.
    static func read(_ text: String) -> UInt64? {
        guard let bytes = UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)), bytes < 1 << 60 else {
            return nil
        }
        return bytes
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Returns bytes in a readable unit: `512 MiB`, `7.7 GiB`.
    public static func readable(_ bytes: UInt64) -> String {
        let mebibytes = bytes >> 20
        guard mebibytes >= 1024 else { return "\(mebibytes) MiB" }
        let tenths = bytes / ((1 << 30) / 10)
        return tenths % 10 == 0 ? "\(tenths / 10) GiB" : "\(tenths / 10).\(tenths % 10) GiB"
    }
}
