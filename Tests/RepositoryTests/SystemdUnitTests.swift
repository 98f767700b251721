// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

@Suite("systemd units")
struct SystemdUnitTests {
    static let names = ["herald.service", "herald@.service", "herald-directory.service"]

    private static func file(_ name: String) -> URL {
        Repository.root.appendingPathComponent("Deploy/systemd/" + name)
    }

    /// The settings of a unit without its comments.
    private func settings(_ name: String) throws -> [String] {
        try String(contentsOf: Self.file(name), encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#") }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")), arguments: names)
    func `the exposure of a unit is at most 2.5`(name: String) async throws {
        let analysis = try await ChildProgram.run(
            "systemd-analyze",
            ["security", "--offline=true", "--no-pager", "--threshold=25", Self.file(name).path])
        #expect(analysis.code == 0, "\(analysis.output)\(analysis.errors)")
        #expect(analysis.output.contains("Overall exposure level"))
    }

    @Test(arguments: names)
    func `systemd waits until the program is ready, and watches it`(name: String) throws {
        let lines = try settings(name)
        for line in ["Type=notify", "NotifyAccess=main", "WatchdogSec=20", "WatchdogSignal=SIGKILL", "Restart=always"] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test(arguments: names.filter { $0 != "herald-directory.service" })
    func `a reload checks the file before the signal`(name: String) throws {
        let steps = try settings(name).filter { $0.hasPrefix("ExecReload=") }
        #expect(steps.count >= 2)
        #expect(steps.first?.contains(" check-config ") == true)
    }

    @Test func `the unit of an instance differs from herald.service by its names alone`() throws {
        let plain = try settings("herald.service").map { line in
            line.replacing("/etc/herald/herald.yaml", with: "/etc/herald/%i.yaml")
                .replacing("Description=Herald:", with: "Description=Herald %i:")
        }
        .map { $0.hasSuffix("Directory=herald") ? $0 + "-%i" : $0 }
        #expect(try settings("herald@.service") == plain)
    }
}
