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

    @Test(arguments: [
        "setup", "run", "check-config", "doctor", "lookup", "simulate", "replay", "status", "sync", "reload", "drain",
        "log-level",
        "targets", "routes", "customers", "brands", "calls", "events", "logos", "trace", "trust", "backup", "restore",
    ])
    func `each command explains itself`(command: String) async throws {
        let ended = try await herald([command, "--help"])
        #expect(ended.code == 0 && ended.output.contains("USAGE: herald \(command)"), "\(ended.output)")
        #expect(ended.output.contains("Example"), "\(ended.output)")
        #expect(try await herald(["--help"]).output.contains(command))
    }

    @Test(arguments: [
        ["calls", "--limit", "0"], ["calls", "--csv", "--json"], ["calls", "show", "x", "--wide"],
        ["calls", "--summary", "--follow"], ["calls", "--wide", "--json"], ["trace", "--wide", "--json"],
        ["test-call", "--to", "1", "--wide", "--json"], ["routes", "list", "--wide", "--json"],
        ["calls", "--outcome", "lost"], ["calls", "--since", "yesterdya"], ["events", "--limit", "0"],
        ["events", "retry", "k", "--all"], ["events", "retry"], ["events", "--state", "lost"],
        ["logos", "--limit", "0"],
        ["replay", "--limit", "0"], ["replay", "--csv", "--json"], ["replay", "--since", "yesterdya"],
        ["lookup", "1", "--attestation", "D"], ["calls", "--name", ""], ["drain", "--off", "--wait"],
        ["drain", "--timeout", "5m"], ["drain", "--wait", "--timeout", "soon"], ["log-level", "--for", "10m"],
        ["log-level", "debug", "--for", "10"], ["log-level", "debug", "--reset"],
        ["targets", "disable"], ["customers", "show"], ["simulate"], ["trust", "check", "a.b.c"], ["trust", "show"],
        ["trust", "remove"], ["trust", "remove", "123A", "--list", "us"],
    ])
    func `a wrong option ends with 64 and opens nothing`(arguments: [String]) async throws {
        let ended = try await herald(arguments + ["--config", "/nowhere/herald.yaml"])
        #expect(ended.code == 64, "\(ended.errors)")
        #expect(!ended.errors.contains("/nowhere"))
    }

    @Test func `a restore of something else ends with 1 and changes nothing`() async throws {
        let ended = try await operate("restore", folder)
        #expect(ended.code == 1 && ended.output.isEmpty)
        #expect(ended.errors.contains("\(folder)/manifest.json cannot be read: No such file or directory"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/state").isEmpty)
    }

    @Test func `a mistyped command ends with 64 and a similar one`() async throws {
        let ended = try await herald(["satus"])
        #expect(ended.code == 64 && ended.output.isEmpty)
        #expect(ended.errors == "Error: herald has no command \"satus\"; did you mean \"status\"? See herald --help\n")
        let nested = try await herald(["trust", "lst"])
        #expect(nested.code == 64 && nested.errors.contains("did you mean \"list\"? See herald trust --help"))
        let former = try await herald(["targets", "--disable", "192.0.2.20:5060"])
        #expect(
            former.code == 64 && former.errors.contains("did you mean \"herald targets disable\"?"), "\(former.errors)")
        let option = try await herald(["status", "--jsn"])
        #expect(option.code == 64 && option.errors.contains("Did you mean '--json'?"))
    }

    @Test(arguments: [
        ["calls"], ["calls", "show", "x"], ["events"], ["events", "retry", "k"], ["logos"],
        ["backup", "/nowhere/backup"],
    ])
    func `a command without a database ends with 1, its reason and no new file`(arguments: [String]) async throws {
        let ended = try await herald(arguments + ["--config", folder + "/herald.yaml"])
        #expect(ended.code == 1 && ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("Error: ") && ended.errors.contains(folder + "/state"), "\(ended.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/state").isEmpty)
    }

    @Test(arguments: [
        ["status"], ["sync"], ["reload"], ["reload", "--dry-run"], ["drain"], ["log-level"], ["targets"], ["customers"],
        ["customers", "show", "acme"], ["targets", "disable", "a"], ["logos", "fetch"],
    ])
    func `an order without a gateway ends with 1 and names the socket`(arguments: [String]) async throws {
        let ended = try await herald(arguments + ["--config", folder + "/herald.yaml"])
        #expect(ended.code == 1 && ended.output.isEmpty)
        #expect(ended.errors.contains("no gateway runs on this configuration: \(folder)/run/control.sock"))
    }

    @Test(arguments: ["lookup 1", "logos", "routes"])
    func `a customer that the configuration does not have ends a command with 1`(command: String) async throws {
        let words = command.split(separator: " ").map(String.init) + ["--customer", "acme"]
        let ended = try await herald(words + ["--config", folder + "/herald.yaml"])
        #expect(ended.code == 1 && ended.output.isEmpty)
        #expect(ended.errors == "Error: no customer is named acme: the configuration has no customers\n")
    }

    @Test func `a simulation prints the steps of a call, or what the text lacks`() async throws {
        let invite = """
            INVITE sip:1@127.83.17.1 SIP/2.0
            Via: SIP/2.0/UDP 127.83.17.2;branch=z9hG4bK1
            Max-Forwards: 70
            From: <sip:0255501001@127.83.17.2>;tag=1
            To: <sip:1@127.83.17.1>
            Call-ID: c1
            CSeq: 1 INVITE

            """
        try invite.write(toFile: folder + "/invite.txt", atomically: true, encoding: .utf8)
        let text = try await operate("simulate", folder + "/invite.txt")
        #expect(text.code == 0 && text.output.contains("decision    show the brand\n"), "\(text.output)\(text.errors)")
        let json = try await operate("simulate", folder + "/invite.txt", "--json")
        #expect(json.output.hasSuffix("}\n") && json.output.contains("\"branded\":true"))
        let other = try await operate("simulate", folder + "/herald.yaml")
        #expect(other.code == 1 && other.errors.hasPrefix("Error: the text has no INVITE"), "\(other.errors)")
        let missing = try await operate("simulate", folder + "/missing")
        #expect(missing.code == 1 && missing.errors.contains("cannot be read: No such file or directory"))
    }

    @Test func `the doctor has a line for each check, and 1 for its exit code only with an error`() async throws {
        let text = try await operate("doctor")
        for area in ["configuration", "gateway", "ports", "disk", "clock", "buffers", "memory", "options", "directory"]
        {
            #expect(text.output.contains(area), "\(area): \(text.output)")
        }
        #expect(
            text.output.contains(" at 127.83.17.3:5060: Connection refused"),
            "\(text.output)")
        #expect(text.code == 1)
        let json = try await operate("doctor", "--json")
        #expect(json.output.contains("{\"area\":\"buffers\",\"level\":"))
        let broken = try await herald(["doctor", "--config", folder + "/missing.yaml"])
        #expect(broken.code == 1 && broken.output.contains("error   configuration"), "\(broken.output)")
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
