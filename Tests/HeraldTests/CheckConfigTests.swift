// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

/// Runs the built program.
@Suite("herald check-config reads certificates and keys", .serialized, .timeLimit(.minutes(8)))
final class CheckConfigTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/herald-check-\(UUID().uuidString)"

    init() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "a.key", "-out", "a.csr", "-subj", "/CN=a.example")
        try await openssl("genrsa", "-out", "other.key")
        try await openssl("rsa", "-aes128", "-passout", "pass:words", "-in", "a.key", "-out", "locked.key")
        for (name, days) in [("long.pem", "300"), ("short.pem", "5")] {
            try await openssl("x509", "-req", "-in", "a.csr", "-signkey", "a.key", "-days", days, "-out", name)
        }
        try "no key".write(toFile: folder + "/text.key", atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs openssl; names that end in key, csr or pem are files of the folder.
    private func openssl(_ arguments: String...) async throws {
        let files = arguments.map {
            ["key", "csr", "pem"].contains(($0 as NSString).pathExtension) ? "\(folder)/\($0)" : $0
        }
        let ended = try await ChildProgram.run("openssl", files)
        try #require(ended.code == 0, "\(ended.errors)")
    }

    private func check(_ certificate: String, _ key: String) async throws -> ChildProgram {
        let text = """
            listen: [{name: sips, address: 127.83.17.1, transport: tls, certificate: \(certificate), key: \(key)}]
            trunks: [{sources: [127.83.17.2]}]
            pbx: [{address: 127.83.17.3}]

            """
        try text.write(toFile: folder + "/herald.yaml", atomically: true, encoding: .utf8)
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await ChildProgram.run(
            tests.appendingPathComponent("herald").path, ["check-config", "--config", folder + "/herald.yaml"])
    }

    @Test(arguments: [
        ("other.key", "is not the key of the certificate in"), ("locked.key", "is protected by a pass phrase"),
        ("text.key", "holds no private key in PEM form that can be read"),
    ])
    func `a key that cannot be used is reported before a start`(key: String, reason: String) async throws {
        let ended = try await check("long.pem", key)
        #expect(ended.code == 1)
        #expect(ended.errors.contains("herald.yaml: listen sips: \(folder)/\(key) \(reason)"), "\(ended.errors)")
        #expect(ended.errors.hasSuffix("1 problem; nothing would start\n"))
    }

    @Test func `the result is one JSON object by its option`() async throws {
        _ = try await check("long.pem", "other.key")
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let ended = try await ChildProgram.run(
            tests.appendingPathComponent("herald").path,
            ["check-config", "--json", "--config", folder + "/herald.yaml"])
        #expect(ended.code == 1 && ended.errors.isEmpty, "\(ended.errors)")
        let parts = try JSONDecoder().decode([String: [String]].self, from: Data(ended.output.utf8))
        #expect(parts["problems"]?.count == 1 && parts["summary"] == [] && parts["state_problems"] == [])
    }

    @Test(arguments: [("long.pem", nil), ("short.pem", "expires in ")])
    func `the expiry of a certificate is shown, with a remark when it is near`(certificate: String, note: String?)
        async throws
    {
        let ended = try await check(certificate, "a.key")
        #expect(ended.code == 0, "calls by UDP need no certificate")
        #expect(ended.output.contains("tls     listen sips: for a.example, valid until "))
        let notes = ended.output.split(separator: "\n").filter { $0.hasPrefix("note    listen sips: the certificate ") }
        #expect(notes.count == (note == nil ? 0 : 1))
        #expect(note == nil || notes.first?.contains(note ?? "") == true, "\(notes)")
    }
}
