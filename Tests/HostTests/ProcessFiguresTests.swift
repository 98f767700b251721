// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Testing

@Suite("Figures of the process, proc(5)")
struct ProcessFiguresTests {
    @Test func `this process has all figures`() {
        let samples = ProcessFigures().samples
        let gauges = Dictionary(uniqueKeysWithValues: samples.gauges.map { ($0.name, $0.value) })
        #expect(samples.sums.map(\.name) == ["process_cpu_seconds_total"])
        #expect(samples.sums.allSatisfy { $0.value > 0 })
        #expect(
            Set(gauges.keys) == [
                "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_threads", "process_open_fds",
                "process_max_fds", "process_start_time_seconds",
            ])
        #expect(gauges.values.allSatisfy { $0 > 0 })
        let age = Date().timeIntervalSince1970 - (gauges["process_start_time_seconds"] ?? 0)
        #expect((-2...86_400).contains(age), "the start is \(age) s ago")
    }

    @Test func `a name with spaces and parentheses moves no field`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/herald-proc-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Fields 14, 15: CPU time in ticks; 20: threads; 22: start; 23: bytes; 24: pages.
        let stat = "7 (a) b (c) S 1 1 1 0 -1 0 0 0 0 0 200 100 0 0 20 0 9 0 500 4096000 10 1\n"
        try stat.write(toFile: folder + "/stat", atomically: true, encoding: .utf8)
        let limits = "Limit      Soft Limit   Hard Limit  Units\nMax open files   1024    524288    files\n"
        try limits.write(toFile: folder + "/limits", atomically: true, encoding: .utf8)
        let samples = ProcessFigures(folder: folder).samples
        func value(_ name: String) -> Double? { samples.gauges.first { $0.name == name }?.value }
        #expect(samples.sums.first?.value == 300 / Double(sysconf(Int32(_SC_CLK_TCK))))
        #expect(value("process_threads") == 9)
        #expect(value("process_virtual_memory_bytes") == 4_096_000)
        #expect(value("process_resident_memory_bytes") == 10 * Double(sysconf(Int32(_SC_PAGESIZE))))
        #expect(value("process_max_fds") == 1024)
        #expect(value("process_open_fds") == nil, "the folder has no fd")
    }

    @Test func `without a folder of the process there are no figures`() {
        let samples = ProcessFigures(folder: "/nowhere").samples
        #expect(samples.sums.isEmpty && samples.gauges.isEmpty)
    }
}
