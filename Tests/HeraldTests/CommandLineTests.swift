// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

@Suite("The command line of herald", .timeLimit(.minutes(8)))
final class CommandLineTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/herald-line-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.17.1}]
            trunks: [{name: carrier, sources: [127.83.17.2], region: AU, trusted: true}]
            pbx: [{address: 127.83.17.3}]
            brands: {file: brands.psv}

            """
        try text.write(toFile: folder + "/herald.yaml", atomically: true, encoding: .utf8)
        try "+61255501001|Acme Bank|||b-7\n".write(toFile: folder + "/brands.psv", atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func herald(_ arguments: [String]) async throws -> ChildProgram {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await ChildProgram.run(tests.appendingPathComponent("herald").path, arguments)
    }

    private func operate(_ arguments: String...) async throws -> ChildProgram {
        try await herald(arguments + ["--config", folder + "/herald.yaml"])
    }

    @Test(arguments: ["run", "check-config", "lookup", "calls", "events", "logos", "sync"])
    func `each command explains itself`(command: String) async throws {
        let ended = try await herald([command, "--help"])
        #expect(ended.code == 0 && ended.output.contains("USAGE: herald \(command)"), "\(ended.output)")
        #expect(try await herald(["--help"]).output.contains(command))
    }

    @Test(arguments: [
        ["calls", "--limit", "0"], ["calls", "--csv", "--json"], ["calls", "--show", "x", "--follow"],
        ["calls", "--outcome", "lost"], ["calls", "--since", "yesterday"], ["events", "--limit", "0"],
        ["events", "--retry", "k", "--retry-refused"], ["events", "--state", "lost"], ["logos", "--limit", "0"],
        ["lookup", "1", "--attestation", "D"],
    ])
    func `a wrong option ends with 64 and opens nothing`(arguments: [String]) async throws {
        let ended = try await herald(arguments + ["--config", "/nowhere/herald.yaml"])
        #expect(ended.code == 64, "\(ended.errors)")
        #expect(!ended.errors.contains("/nowhere"))
    }

    @Test(arguments: [["calls"], ["calls", "--show", "x"], ["events"], ["events", "--retry", "k"], ["logos"]])
    func `a command without a database ends with 1, its reason and no new file`(arguments: [String]) async throws {
        let ended = try await herald(arguments + ["--config", folder + "/herald.yaml"])
        #expect(ended.code == 1 && ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("Error: ") && ended.errors.contains(folder + "/state"), "\(ended.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/state").isEmpty)
    }

    @Test func `a lookup prints its decision as text or as one JSON object`() async throws {
        let text = try await operate("lookup", "(02) 5550 1001", "--attestation", "A")
        #expect(text.code == 0 && text.output.contains("decision  show: matched\n"), "\(text.output)\(text.errors)")
        let json = try await operate("lookup", "+61255501001", "--attestation", "failed", "--json")
        #expect(json.output.hasSuffix("}\n") && json.output.contains("\"shown\":false"))
    }

    @Test func `a configuration that is missing is one line and ends with 1`() async throws {
        let ended = try await herald(["lookup", "1", "--config", folder + "/other.yaml"])
        #expect(ended.code == 1 && ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
    }
}
