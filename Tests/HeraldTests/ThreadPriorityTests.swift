// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

/// Runs the built programs as an ordinary user, without the right to a niceness below 0 (setpriority(2)).
@Suite("Threads of commands ask for no niceness they cannot have", .serialized, .timeLimit(.minutes(8)))
struct ThreadPriorityTests {
    private let folder: TemporaryState

    init() throws { folder = try TemporaryState() }

    private static let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path

    /// - Parameter asks: has libdispatch write its lines to standard error.
    private func run(_ program: String, _ arguments: [String], asks: Bool) async throws -> ChildProgram {
        let user = geteuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        let environment = asks ? ["LIBDISPATCH_LOG=stderr"] : ["-u", "LIBDISPATCH_LOG"]
        return try await ChildProgram.run(
            "env", environment + user + [program.hasPrefix("/") ? program : Self.tests + "/" + program] + arguments)
    }

    @Test(arguments: [
        ("herald-directory", ["keys", "add", "gateway", "--state", "STATE"]),
        ("herald-directory", ["brands", "add", "Acme Bank", "--state", "STATE"]),
        ("herald", ["calls", "--config", "CONFIG"]),
        ("herald", ["check-config", "--config", "CONFIG"]),
    ])
    func `only the timer thread of libdispatch does`(program: String, arguments: [String]) async throws {
        // A build folder for one user alone cannot be tested as another user.
        guard try await run("/usr/bin/test", ["-x", Self.tests + "/" + program], asks: false).code == 0 else { return }
        let given = arguments.map {
            $0.replacing("STATE", with: folder.path).replacing("CONFIG", with: folder.path + "/herald.yaml")
        }
        let lines = try await run(program, given, asks: true).errors.split(separator: "\n")
        #expect(lines.count { $0.contains("Failed to set thread priority") } <= 1, "\(lines)")
        let quiet = try await run(program, given, asks: false)
        #expect(!quiet.errors.contains("thread priority"), "\(quiet.errors)")
    }
}

/// A folder that any user may write, with a small configuration, removed with the object.
private final class TemporaryState {
    let path = FileManager.default.temporaryDirectory.path + "/herald-threads-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        chmod(path, 0o777)
        let text = """
            gateway: {state: ., runtime: .}
            listen: [{address: 127.83.17.1}]
            trunks: [{sources: [127.83.17.2]}]
            pbx: [{address: 127.83.17.3}]

            """
        try text.write(toFile: path + "/herald.yaml", atomically: true, encoding: .utf8)
        chmod(path + "/herald.yaml", 0o644)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
