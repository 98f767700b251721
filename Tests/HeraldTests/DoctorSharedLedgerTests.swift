// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import PostgreSQLTesting
import Testing

/// Runs the built program against servers with TLS.
@Suite("herald doctor examines the server of the shared ledger", .timeLimit(.minutes(8)))
final class DoctorSharedLedgerTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/herald-doctor-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in [
            ("secret", "0123456789abcdef0123456789abcdef"), ("right", "herald"), ("wrong", "guessed"),
        ] {
            try "\(text)\n".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(name)")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The lines of the report about the shared ledger.
    private func findings(_ url: String, password: String = "right") async throws -> [String] {
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.17.1:5060}]
            trunks: [{sources: [127.83.17.2]}]
            pbx: [{address: 127.83.17.3:5060}]
            admin: {enabled: false}
            cluster:
              secret_file: secret
              listen: 127.83.17.1:5070
              siblings: [127.83.17.4:5070]
              route: 127.83.17.1
              ledger: \(url)
              ledger_password_file: \(password)

            """
        try text.write(toFile: folder + "/herald.yaml", atomically: true, encoding: .utf8)
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let ended = try await ChildProgram.run(
            tests.appendingPathComponent("herald").path, ["doctor", "--config", folder + "/herald.yaml"])
        let lines = ended.output.split(separator: "\n").map(String.init)
        try #require(!lines.isEmpty, "\(ended.errors)")
        #expect(!ended.output.contains("guessed"), "no password")
        return lines.filter { $0.contains("shared ledger") }
    }

    @Test func `by TLS with a certificate that it can verify it sees gateways, role and standbys`() async throws {
        let server = try ThrowawayServer(["--tls"])
        let url = "postgres://herald@localhost:\(server.port)/herald?sslmode=verify-full"
        let root = "&sslrootcert=\(server.folder)/server.crt"
        // The first look finds no tables, because no gateway was there.
        let found = try await findings(url + root)
        #expect(found.contains { $0.contains("primary, no standby") }, "\(found)")

        let stranger = try ThrowawayServer(["--tls"])
        for (url, password, words) in [
            (url.replacing("localhost", with: "127.0.0.1") + root, "right", "as its certificate does"),
            (url + "&sslrootcert=\(stranger.folder)/server.crt", "right", "does not have its issuer"),
            (url + "&sslrootcert=/nonexistent", "right", "add sslrootcert=FILE"),
            (url + root, "wrong", "check user, password file"),
        ] {
            let found = try await findings(url, password: password)
            #expect(found.count == 1 && found.first?.contains(words) == true, "\(found)")
        }
    }

    @Test func `an expired certificate is named`() async throws {
        let server = try ThrowawayServer(["--expired"])
        let found = try await findings(
            "postgres://herald@localhost:\(server.port)/herald?sslmode=verify-full&sslrootcert=\(server.folder)/server.crt"
        )
        #expect(found.count == 1 && found.first?.contains("the certificate has expired, or") == true, "\(found)")
    }
}
