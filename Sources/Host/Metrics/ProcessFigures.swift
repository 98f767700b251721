// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The kernel's figures of this process, under the names that Prometheus' client libraries share.
///
/// Read from `/proc` (proc(5)). A figure that cannot be read is left out. Source: prometheus.io, "Writing client
/// libraries", process metrics.
public struct ProcessFigures {
    private let folder: String

    /// - Parameter folder: the folder of a process; that of this one by default.
    public init(folder: String = "/proc/self") { self.folder = folder }

    /// The samples of this moment.
    public var samples: MetricSamples {
        let stat = Stat(text("stat"))
        var samples = MetricSamples()
        if let seconds = stat.cpuSeconds {
            samples.sums.append(
                SumSample(
                    name: "process_cpu_seconds_total", help: "User and system CPU time of the program in seconds",
                    value: seconds))
        }
        samples.gauges = [
            gauge("process_resident_memory_bytes", "Resident memory of the program in bytes", stat.residentBytes),
            gauge("process_virtual_memory_bytes", "Virtual memory of the program in bytes", stat.virtualBytes),
            gauge("process_threads", "Threads of the program", stat.threads),
            gauge("process_open_fds", "Open file descriptors of the program", openFiles),
            gauge("process_max_fds", "Limit of open file descriptors of the program", mostFiles),
            gauge(
                "process_start_time_seconds", "Start of the program in seconds since 1970",
                startTime(afterBoot: stat.startSeconds)),
        ].compactMap { $0 }
        return samples
    }

    private func gauge(_ name: String, _ help: String, _ value: Double?) -> GaugeSample? {
        value.map { GaugeSample(name: name, help: help, value: $0) }
    }

    private func text(_ file: String) -> String {
        (try? String(contentsOfFile: folder + "/" + file, encoding: .utf8)) ?? ""
    }

    private var openFiles: Double? {
        // The listing itself holds one descriptor, as in the client libraries of Prometheus.
        (try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd")).map { Double($0.count) }
    }

    private var mostFiles: Double? {
        let line = text("limits").split(separator: "\n").first { $0.hasPrefix("Max open files") }
        guard let soft = line?.split(separator: " ", omittingEmptySubsequences: true).dropFirst(3).first else {
            return nil
        }
        return soft == "unlimited" ? .infinity : Double(soft)
    }

    private func startTime(afterBoot seconds: Double?) -> Double? {
        let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let line = stat?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        guard let seconds, let boot = line.flatMap({ Double($0.dropFirst(6)) }) else { return nil }
        return boot + seconds
    }

    /// The fields of `/proc/self/stat`.
    private struct Stat {
        private let fields: [Double]
        private static let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        private static let page = Double(sysconf(Int32(_SC_PAGESIZE)))

        init(_ text: String) {
            // The name in parentheses may have spaces and parentheses; the state is the third field.
            let rest = text.lastIndex(of: ")").map { text[text.index(after: $0)...] } ?? ""
            fields = rest.split(separator: " ").dropFirst().map { Double($0.filter { !$0.isNewline }) ?? .nan }
        }

        /// A field by its number in proc(5), from 4 on.
        private func field(_ number: Int) -> Double? {
            let position = number - 4
            guard fields.indices.contains(position), fields[position].isFinite else { return nil }
            return fields[position]
        }

        var cpuSeconds: Double? {
            guard let user = field(14), let system = field(15) else { return nil }
            return (user + system) / Self.ticks
        }

        var threads: Double? { field(20) }
        var startSeconds: Double? { field(22).map { $0 / Self.ticks } }
        var virtualBytes: Double? { field(23) }
        var residentBytes: Double? { field(24).map { $0 * Self.page } }
    }
}
