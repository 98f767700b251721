// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import TestFixtures
import Testing
import TrustFixtures

/// `herald trust` as a program, also killed in the middle of an import.
@Suite("herald trust as a program", .timeLimit(.minutes(8)))
struct TrustImportTests {
    private let lab = TrustLab.shared
    private let folder = TemporaryFolder()

    init() throws {
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.20.1}]
            trunks: [{sources: [127.83.20.2]}]
            pbx: [{address: 127.83.20.3}]
            trust: {regimes: [private]}

            """
        try folder.write(text, to: "herald.yaml")
        try FileManager.default.createDirectory(atPath: folder.path + "/regimes", withIntermediateDirectories: true)
        try folder.write(lab.pem("root"), to: "regimes/lab.pem")
    }

    private var program: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("herald").path
    }

    private func trust(_ arguments: String...) async throws -> ChildProgram {
        try await ChildProgram.run(program, ["trust"] + arguments + ["--config", folder.path + "/herald.yaml"])
    }

    @Test func `an import, the list, a check and the reasons work by hand`() async throws {
        let chains = try folder.write(lab.file(["spc", "delegate", "text"]), to: "chains.pem")
        let imported = try await trust("import", chains)
        #expect(
            imported.code == 0 && imported.output.contains("3 signers: 2 count under private"), "\(imported.errors)")
        let list = try await trust("list", "--wide")
        #expect(list.output.contains("https://cert.example.net/delegate.pem"), "\(list.output)")
        let json = try await trust("list", "--json")
        #expect(json.output.split(separator: "\n").count == 3 && json.output.contains(#""private":"passed""#))
        let why = try await trust("show", "https://cert.example.net/text.pem")
        #expect(why.output.contains("no_authority"), "\(why.output)\(why.errors)")
        let item = try #require(lab.cases.first { $0.id == "c01" })
        let check = try await trust(
            "check", item.identity[0], "--caller", item.caller, "--called", item.called, "--at", "\(item.now)")
        #expect(check.output.contains("verdict     passed(A)\n"), "\(check.output)\(check.errors)")
        let reasons = try await trust("show", "https://cert.example.net/text.pem", "--json")
        #expect(reasons.output.contains(#""reasons":{"private":"the TNAuthList of the leaf cannot be read"}"#))
        let regimes = try await trust("regimes", "--json")
        #expect(regimes.output.contains(#"{"in_use":true,"name":"private"}"#), "\(regimes.output)")
        let regime = try await trust("regimes", "show", "us")
        #expect(regime.output.contains("list_root: stipa-root.pem"))
        #expect(try await trust("regimes").output.contains("private  yes"))
        let refused = try await trust("import", try folder.write("hello", to: "nothing"))
        #expect(
            refused.code == 1 && refused.output.contains("refused") && refused.errors.contains("1 part was refused"))
        #expect(try await trust("remove", "#1").code == 0)
    }

    /// The count of signers and of the changes, by the program itself.
    private func count() async throws -> Int {
        let list = try await trust("list", "--json")
        #expect(list.code == 0, "\(list.errors)")
        return list.output.split(separator: "\n").count
    }

    @Test func `a killed import leaves all or nothing, and the next one goes on`() async throws {
        let first = try await trust("import", try folder.write(lab.file(["spc"]), to: "one.pem"))
        #expect(first.code == 0, "\(first.errors)")
        // One leaf under many addresses: the import takes long enough for a kill in each of its phases.
        let chain = (lab.certificates["spc"]?.served ?? []).map(lab.pem).joined(separator: "\n")
        let text = (0..<400).map { "x5u: https://a\($0).example/1.pem\n\(chain)\n" }.joined()
        let many = try folder.write(text, to: "many.pem")
        var wasWhole = false
        for delay in [5, 40, 80, 120, 200, 300, 450, 650, 900, 1300] where !wasWhole {
            let killer = """
                "$0" trust import "$1" --config "$2" >/dev/null 2>&1 & child=$!
                sleep \(Double(delay) / 1000); kill -9 $child 2>/dev/null; wait $child 2>/dev/null; exit 0
                """
            _ = try await ChildProgram.run("/bin/sh", ["-c", killer, program, many, folder.path + "/herald.yaml"])
            let count = try await count()
            #expect(count == 1 || count == 401, "\(count) signers after \(delay) ms")
            wasWhole = count == 401
        }
        let last = try await trust("import", many)
        #expect(last.code == 0, "\(last.errors)")
        #expect(try await count() == 401)
    }
}
