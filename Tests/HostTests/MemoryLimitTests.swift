// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Host

@Suite("Memory a process may use, cgroups(7)")
final class MemoryLimitTests {
    private let root = FileManager.default.temporaryDirectory.path + "/herald-memory-\(UUID().uuidString)"
    private static let gibibyte: UInt64 = 1 << 30

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ files: [String: String]) throws {
        for (path, text) in files {
            let full = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: full.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: full, atomically: true, encoding: .utf8)
        }
    }

    private func limit() -> MemoryLimit { MemoryLimit.current(root: root, ram: 8 * Self.gibibyte) }

    @Test func `without control groups it is the machine's`() {
        #expect(limit() == MemoryLimit(bytes: 8 * Self.gibibyte, source: "RAM"))
        #expect(MemoryLimit.physicalMemory > 100 << 20)
    }

    @Test func `the unit's MemoryMax in cgroup v2`() throws {
        try write([
            "/proc/self/cgroup": "0::/system.slice/herald.service\n",
            "/sys/fs/cgroup/system.slice/herald.service/memory.max": "1073741824\n",
            "/sys/fs/cgroup/system.slice/herald.service/memory.high": "max\n",
            "/sys/fs/cgroup/system.slice/memory.max": "max\n",
        ])
        #expect(
            limit()
                == MemoryLimit(
                    bytes: Self.gibibyte, source: "/sys/fs/cgroup/system.slice/herald.service/memory.max"))
    }

    @Test func `MemoryHigh, and the limit of a group above, count where they are lower`() throws {
        try write([
            "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "4294967296\n",
            "/sys/fs/cgroup/a/b/memory.high": "3221225472\n",
        ])
        #expect(limit().source == "/sys/fs/cgroup/a/b/memory.high")
        try write(["/sys/fs/cgroup/a/memory.max": "2147483648\n"])
        #expect(limit() == MemoryLimit(bytes: 2 * Self.gibibyte, source: "/sys/fs/cgroup/a/memory.max"))
    }

    @Test func `a container with a namespace of its own sees its limit at the root`() throws {
        try write(["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "536870912\n"])
        #expect(limit().bytes == 512 << 20)
        try write(["/proc/self/cgroup": "0::/../../docker/abc\n"])
        #expect(limit().bytes == 512 << 20)
    }

    @Test func `cgroup v1 names the controller, and a huge number for no limit`() throws {
        try write([
            "/proc/self/cgroup": "12:pids:/x\n5:cpu,memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/docker/abc\n",
            "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "805306368\n",
        ])
        #expect(limit() == MemoryLimit(bytes: 768 << 20, source: "/sys/fs/cgroup/memory/memory.limit_in_bytes"))
    }

    @Test func `a limit above the machine's memory is none, and so is nonsense`() throws {
        try write(["/proc/self/cgroup": "0::/\nx\n:\n", "/sys/fs/cgroup/memory.max": "99999999999999\n"])
        #expect(limit().source == "RAM")
        for text in ["", "max", "-1", "1.5", "9223372036854771712"] { #expect(MemoryLimit.read(text) == nil) }
    }

    @Test func `bytes have the largest unit that fits`() {
        #expect(MemoryLimit.readable(512 << 20) == "512 MiB")
        #expect(MemoryLimit.readable(1 << 30) == "1 GiB")
        #expect(MemoryLimit.readable(8_300_000_000) == "7.7 GiB")
    }
}
