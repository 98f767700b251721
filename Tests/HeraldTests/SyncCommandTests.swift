// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

@Suite("herald sync without a gateway", .timeLimit(.minutes(8)))
final class SyncCommandTests {
    private let folder = "/tmp/herald-sync-\(UInt32.random(in: .min ... .max))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func run(_ arguments: String...) async throws -> ChildProgram {
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.17.1:5060}]
            trunks: [{sources: [127.83.17.2]}]
            pbx: [{address: 127.83.17.3:5060}]

            """
        try text.write(toFile: folder + "/herald.yaml", atomically: true, encoding: .utf8)
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await ChildProgram.run(
            tests.appendingPathComponent("herald").path, ["sync"] + arguments + ["--config", folder + "/herald.yaml"])
    }

    @Test func `it names the socket and the command that starts a gateway`() async throws {
        let ended = try await run()
        #expect(ended.code == 1)
        #expect(
            ended.errors == """
                Error: no gateway runs on this configuration: \(folder)/run/control.sock does not exist; start it with \
                herald run, or see gateway.runtime

                """)
        #expect(ended.output.isEmpty)
    }

    @Test func `the former --now is unknown`() async throws {
        #expect(try await run("--now").code == 64)
    }
}
