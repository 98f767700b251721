// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

/// Runs the built program on a state that a gateway has made.
@Suite("herald restore on a disk without space", .serialized, .timeLimit(.minutes(8)))
final class RestoreCommandTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/herald-restore-\(UUID().uuidString)"
    private var state: String { folder + "/state" }

    private static var program: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("herald").path
    }

    /// Ends once the log of its arguments shows a gateway that is ready.
    private static let onceReady = """
        "$@" 2>"$0" & child=$!
        for round in $(seq 600); do
            grep -q "ready for calls" "$0" && break
            kill -0 "$child" || break
            sleep 0.1
        done
        kill -TERM "$child"; wait "$child"
        """

    init() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.29.1:5060}]
            trunks: [{sources: [127.83.29.2]}]
            pbx: [{address: 127.83.29.3:5060}]
            admin: {enabled: false}

            """
        try text.write(toFile: folder + "/herald.yaml", atomically: true, encoding: .utf8)
        _ = try await herald("run", through: ["sh", "-c", Self.onceReady, folder + "/log"])
        let backup = try await herald("backup", folder + "/backup")
        try #require(backup.code == 0, "\(backup.errors)")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func herald(_ arguments: String..., through wrapper: [String] = []) async throws -> ChildProgram {
        let command = wrapper + [Self.program] + arguments + ["--config", folder + "/herald.yaml"]
        return try await ChildProgram.run(command[0], Array(command.dropFirst()))
    }

    private func everything() throws -> [String: Data] {
        try FileManager.default.subpathsOfDirectory(atPath: state).reduce(into: [:]) { files, name in
            if name != "lock" { files[name] = FileManager.default.contents(atPath: state + "/" + name) }
        }
    }

    /// Files get 8 KiB at most: a write beyond it fails, as it does on a full disk (setrlimit(2)).
    private static let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"]

    @Test func `a copy without space changes nothing, with the file and the cause`() async throws {
        let before = try everything()
        let ended = try await herald("restore", folder + "/backup", through: Self.limited)
        #expect(ended.code == 1, "\(ended)")
        #expect(ended.errors.contains("/state/restoring/herald.sqlite cannot be written: "), "\(ended.errors)")
        #expect(ended.errors.hasSuffix("; nothing was changed\n"), "\(ended.errors)")
        #expect(try everything() == before)
    }

    @Test func `drafts that a killed restore left are none of the next one`() async throws {
        try FileManager.default.createDirectory(atPath: state + "/restoring", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: state + "/restoring/herald.sqlite"))
        let ended = try await herald("restore", folder + "/backup")
        #expect(ended.code == 0 && ended.output.contains("restored; start herald\n"), "\(ended)")
        #expect(!FileManager.default.fileExists(atPath: state + "/restoring"))
        #expect(try await herald("calls").code == 0, "the ledger can be read")
    }
}
