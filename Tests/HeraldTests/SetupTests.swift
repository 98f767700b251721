// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Glibc
import Testing

/// Runs the built program, at a terminal and without one.
@Suite("herald setup", .timeLimit(.minutes(8)))
final class SetupTests {
    private typealias Turn = TerminalProgram.Turn

    private let folder = FileManager.default.temporaryDirectory.path + "/herald-setup-\(UUID().uuidString)"
    private var config: String { folder + "/herald.yaml" }
    private var otherFolders: [String] = []

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { for path in otherFolders + [folder] { try? FileManager.default.removeItem(atPath: path) } }

    private static func program(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name).path
    }

    private func setup(_ arguments: String...) async throws -> ChildProgram {
        try await ChildProgram.run(Self.program("herald"), ["setup", "--config", config] + arguments)
    }

    private func setup(_ arguments: [String], _ turns: [Turn]) async throws -> TerminalProgram {
        try await TerminalProgram.run(Self.program("herald"), ["setup", "--config", config] + arguments, turns)
    }

    /// The values that a person types, without a directory, up to the confirmation.
    private static let typed = [
        Turn("Carrier's addresses", "127.83.18.2\n"), Turn("PBX's address", "127.83.18.3\n"),
        Turn("Country", "Australia\n"), Turn("vouch for its callers", "yes\n"),
        Turn("towards the carrier [127.0.0.1:5060]", "127.83.18.1\n"), Turn("branding directory, or none", "none\n"),
        Turn("Write this to", "\n"),
    ]
    /// The same values as options.
    private static let options = [
        "--carrier", "127.83.18.2", "--pbx", "127.83.18.3", "--country", "AU", "--vouches", "--listen", "127.83.18.1",
        "--directory", "none",
    ]

    private func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }
    private func put(_ text: String, in name: String) throws {
        try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
    }

    // MARK: At a terminal

    @Test func `a person replies to the questions, and the file is written with what is left`() async throws {
        let ended = try await setup([], Self.typed)
        #expect(ended.code == 0, "\(ended.screen)\(ended.output)")
        #expect(try files() == ["herald.yaml"])
        #expect(try mode("herald.yaml") == 0o640)
        let check = try await ChildProgram.run(Self.program("herald"), ["check-config", "--config", config])
        #expect(check.code == 0 && check.output.contains("127.83.18.1:5060"), "\(check.output)\(check.errors)")
        // Questions are on the screen, results in the output.
        #expect(ended.screen.contains("    region: AU") && !ended.output.contains("Country"))
        #expect(ended.output.hasPrefix("\(config) written\n"))
        #expect(ended.output.contains("\(config) can be used\n"), "\(ended.output)")
        #expect(ended.output.contains("\nFirst steps:\n  open  gateway    start it: herald run --config \(config)\n"))
        #expect(ended.output.contains("  open  carrier    let the carrier send calls to 127.83.18.1:5060"))
    }

    @Test func `a wrong value is asked again with its reason, in visible characters`() async throws {
        let wrong = [
            Turn("Carrier's addresses", "203.0.113.9/24\n"), Turn("has bits set after the first 24", "127.83.18.2\n"),
            Turn("PBX's address", "\u{202E}evil\n"),
            Turn("\\u{202e}evil\" is not an IPv4 or IPv6 address", "127.83.18.2\n"),
            Turn("127.83.18.2 is an address of the carrier", "127.83.18.3\n"), Turn("Country", "1\n"),
            Turn("+1 is the calling code of several countries (", "Austrlia\n"),
            Turn("did you mean \"Australia\"?", "\n"), Turn("Country", "au\n"),
            Turn("vouch for its callers", "perhaps\n"), Turn("write yes or no", "y\n"),
        ]
        let ended = try await setup([], wrong + Self.typed.dropFirst(4))
        #expect(ended.code == 0, "\(ended.screen)")
        #expect(try text("herald.yaml").contains("trusted: true"))
    }

    @Test(arguments: 0..<7)
    func `Ctrl-C at each question leaves nothing`(question: Int) async throws {
        let turns = Self.typed[..<question] + [Turn(Self.typed[question].screen, TerminalProgram.interrupt)]
        let ended = try await setup([], Array(turns))
        #expect(ended.signal == SIGINT, "\(ended.code) \(ended.screen)")
        #expect(try files().isEmpty)
    }

    @Test(arguments: 0..<7)
    func `the end of the input at each question leaves nothing`(question: Int) async throws {
        let turns = Self.typed[..<question] + [Turn(Self.typed[question].screen, TerminalProgram.endOfInput)]
        let ended = try await setup([], Array(turns))
        #expect(ended.code == 1 && ended.screen.contains("nothing was written"), "\(ended.screen)")
        #expect(try files().isEmpty)
    }

    @Test func `no at the end leaves nothing`() async throws {
        let ended = try await setup([], Self.typed.dropLast() + [Turn("Write this to", "n\n")])
        #expect(ended.code == 1 && ended.screen.contains("nothing was written"))
        #expect(try files().isEmpty)
    }

    @Test func `a list that is pasted with line ends is one value`() async throws {
        var turns = Self.typed
        turns[0] = Turn("Carrier's addresses", "127.83.18.2\n127.83.18.4\n127.83.19.0/24\n")
        let ended = try await setup([], turns)
        #expect(ended.code == 0, "\(ended.screen)")
        #expect(try text("herald.yaml").contains("sources: [127.83.18.2, 127.83.18.4, 127.83.19.0/24]"))
    }

    @Test func `an option is not asked for, and --yes asks nothing at a terminal`() async throws {
        let asked = try await setup(["--country", "AU"], Self.typed.filter { $0.screen != "Country" })
        #expect(asked.code == 0 && !asked.screen.contains("Country of"), "\(asked.screen)")
        try FileManager.default.removeItem(atPath: config)
        let silent = try await setup(Self.options + ["--yes"], [])
        #expect(silent.code == 0 && silent.screen.isEmpty, "\(silent.screen)")
        try FileManager.default.removeItem(atPath: config)
        let refused = try await setup(["--yes", "--country", "AU"], [])
        #expect(
            refused.code == 64 && refused.screen.contains("--yes asks nothing; give also: --carrier ADDRESS, --pbx"))
    }

    // MARK: The key

    @Test func `a key that is typed is in its file alone, and not on the screen`() async throws {
        let turns: [Turn] =
            Self.typed.dropLast(2)
            + [
                Turn("branding directory, or none", "http://127.0.0.1:1\n"), Turn("API key of", "two words\n"),
                Turn("API key of", "k3y-x\u{7F}of-a-customer\n"), Turn("Write this to", "\n"),
            ]
        let ended = try await setup([], turns)
        #expect(ended.code == 0, "\(ended.screen)\(ended.output)")
        #expect(try text("api-key") == "k3y-of-a-customer\n" && mode("api-key") == 0o640)
        #expect(!ended.screen.contains("k3y") && !ended.output.contains("k3y"))
        // The directory is away: the file is there, and the doctor names the fault.
        #expect(ended.output.contains("error   directory     http://127.0.0.1:1: "), "\(ended.output)")
    }

    @Test func `Ctrl-C at the key leaves nothing, and the terminal shows keys again`() async throws {
        let turns: [Turn] =
            Self.typed.dropLast(2)
            + [
                Turn("branding directory, or none", "http://127.0.0.1:1\n"),
                Turn("API key of", "k3y" + TerminalProgram.interrupt),
            ]
        let ended = try await setup([], turns)
        #expect(ended.signal == SIGINT && ended.echoes, "\(ended.screen)")
        #expect(try files().isEmpty)
    }

    @Test func `the directory on this machine makes the key`() async throws {
        try put("listen: 127.0.0.1:1\nstate: directory\n", in: "herald-directory.yaml")
        let turns: [Turn] =
            Self.typed.dropLast(2)
            + [Turn("branding directory, or none [http://127.0.0.1:1]", "\n"), Turn("Write this to", "\n")]
        let ended = try await setup([], turns)
        #expect(ended.code == 0, "\(ended.screen)\(ended.output)")
        #expect(try files() == ["api-key", "directory", "herald-directory.yaml", "herald.yaml"])
        #expect(try text("api-key").hasPrefix("hd_") && mode("api-key") == 0o640)
        let written = try text("herald.yaml")
        #expect(written.contains("directory: {url: 'http://127.0.0.1:1', api_key_file: api-key}"))
        #expect(written.contains("  listen: 127.83.18.1:9480") && written.contains("  allow_private: true"))
        let keys = try await ChildProgram.run(
            Self.program("herald-directory"), ["keys", "list", "--config", folder + "/herald-directory.yaml"])
        #expect(keys.output.contains("gateway"), "\(keys.output)\(keys.errors)")
        let key = try text("api-key").dropLast()
        #expect(!ended.screen.contains(key) && !ended.output.contains(key) && !written.contains(key))

        // Without the key's file the name is taken, and nothing is written.
        for name in ["api-key", "herald.yaml"] { try FileManager.default.removeItem(atPath: folder + "/" + name) }
        let again = try await setup(["--yes"] + Self.options.dropLast(2), [])
        #expect(again.code == 1 && again.screen.contains("keys remove gateway"), "\(again.screen)")
        #expect(try files() == ["directory", "herald-directory.yaml"])
    }

    @Test func `a key that is there stays, also after a setup that ended between key and configuration`() async throws {
        try put("listen: 127.0.0.1:1\nstate: directory\n", in: "herald-directory.yaml")
        try put("k3y\n", in: "api-key")
        let ended = try await setup(["--yes"] + Self.options.dropLast(2), [])
        #expect(ended.code == 0, "\(ended.screen)")
        #expect(try text("api-key") == "k3y\n")
        #expect(try files() == ["api-key", "herald-directory.yaml", "herald.yaml"])
    }

    /// The program beside another `herald-directory`, which is a shell script.
    private func program(besideDirectory script: String) async throws -> String {
        // A folder of the build: a link to a program needs the same file system.
        let bin = Self.program("herald-setup-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        otherFolders.append(bin)
        guard link(Self.program("herald"), bin + "/herald") == 0 else { throw POSIXError(.EXDEV) }
        try "#!/bin/sh\n\(script)\n".write(toFile: bin + "/script", atomically: true, encoding: .utf8)
        chmod(bin + "/script", 0o755)
        // By a program, because a child that another test starts meanwhile keeps a file of this one open for writing.
        let copied = try await ChildProgram.run("/bin/cp", [bin + "/script", bin + "/herald-directory"])
        try #require(copied.code == 0, "\(copied.errors)")
        return bin + "/herald"
    }

    @Test(
        arguments: [("api-key", "api-key.new"), ("none/api-key", nil), ("api-key", "herald.yaml.new")]
            as [(String, String?)])
    func `the directory makes no key that could not be written`(file: String, taken: String?) async throws {
        try put("listen: 127.0.0.1:1\nstate: directory\n", in: "herald-directory.yaml")
        if let taken { try put("mine\n", in: taken) }
        let before = try files()
        let options = Self.options.dropLast(2) + ["--key-file", folder + "/" + file, "--yes"]
        let ended = try await setup(Array(options), [])
        #expect(ended.code == 1 && ended.screen.contains("cannot write \(folder)/\(taken ?? file)"), "\(ended.screen)")
        #expect(try files() == before, "a key would make the folder of the directory's database")
        if let taken { #expect(try text(taken) == "mine\n") }
    }

    @Test func `Ctrl-C while the directory makes the key comes through once both files are there`() async throws {
        try put("listen: 127.0.0.1:1\nstate: directory\n", in: "herald-directory.yaml")
        let herald = try await program(besideDirectory: "echo making >/proc/$PPID/fd/2; sleep 2; echo hd_k3y")
        let ended = try await TerminalProgram.run(
            herald, ["setup", "--config", config, "--yes"] + Self.options.dropLast(2),
            [Turn("making", TerminalProgram.interrupt)])
        #expect(ended.signal == SIGINT, "\(ended.code) \(ended.screen)\(ended.output)")
        #expect(try files() == ["api-key", "herald-directory.yaml", "herald.yaml"])
        #expect(try text("api-key") == "hd_k3y\n" && mode("api-key") == 0o640)
        #expect(ended.output.hasSuffix("herald.yaml written\n"), "no doctor runs after it")
    }

    @Test func `a directory program that hangs is stopped after 20 s, with cause and remedy, and nothing is written`()
        async throws
    {
        try put("listen: 127.0.0.1:1\nstate: directory\n", in: "herald-directory.yaml")
        let herald = try await program(besideDirectory: "sleep 300 & echo $$ $! >'\(folder)/processes'; wait")
        let ended = try await ChildProgram.run(
            herald, ["setup", "--config", config, "--yes"] + Self.options.dropLast(2))
        #expect(ended.code == 1, "\(ended)")
        #expect(ended.errors.contains("the directory on this machine makes no key: "), "\(ended.errors)")
        #expect(ended.errors.contains("/herald-directory did not end within 20 s and was stopped"), "\(ended.errors)")
        #expect(ended.errors.contains("see herald-directory doctor") && ended.errors.contains("Nothing was written"))
        #expect(try files() == ["herald-directory.yaml", "processes"])
        let processes = try text("processes").split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
        #expect(processes.count == 2)
        for process in processes {
            // Empty for one that has ended and that nobody has waited for.
            let command = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            #expect(command.isEmpty, "process \(process) is left")
        }
    }

    @Test func `a key file that appears meanwhile stays, and the lost key is named with its remedy`() async throws {
        try put("listen: 127.0.0.1:1\nstate: directory\n", in: "herald-directory.yaml")
        let herald = try await program(besideDirectory: "echo theirs >'\(folder)/api-key'; echo hd_k3y")
        let ended = try await ChildProgram.run(
            herald, ["setup", "--config", config, "--yes"] + Self.options.dropLast(2))
        #expect(ended.code == 1 && ended.errors.contains("keys remove gateway"), "\(ended.errors)")
        #expect(!ended.errors.contains("hd_k3y") && !ended.output.contains("hd_k3y"))
        #expect(try text("api-key") == "theirs\n" && files() == ["api-key", "herald-directory.yaml"])
    }

    // MARK: Without a terminal

    @Test func `without a terminal all missing options are named at once`() async throws {
        let ended = try await setup("--country", "AU")
        #expect(ended.code == 64 && ended.output.isEmpty)
        #expect(
            ended.errors.contains(
                "there is no terminal to ask at; give also: --carrier ADDRESS, --pbx ADDRESS, --vouches or --no-vouches, "
                    + "--directory URL, or --directory none"), "\(ended.errors)")
        #expect(try files().isEmpty)
    }

    @Test(arguments: [
        ("--carrier", "0.0.0.0/0", "--carrier: 0.0.0.0/0 has so many addresses"),
        ("--carrier", "10.0.0.0/24", "--next-hop; it has no default here"),
        ("--pbx", "0.0.0.0", "--pbx: 0.0.0.0 means every address"),
        ("--pbx", "sips:pbx.example", "needs TCP or TLS"),
        ("--country", "ZZ", "--country: \"ZZ\" is no country"),
        ("--listen", "127.83.18.3:5060", "--listen: 127.83.18.3:5060 is the PBX's address"),
        ("--listen", "pbx.example", "--listen: \"pbx.example\" is a host name"),
        ("--listen", "[::1]:5060", "is of another family than the peer"),
        ("--directory", "ftp://x", "--directory: \"ftp://x\" must be an http:// or https:// URL"),
        ("--directory", "http://127.0.0.1:1/x'\n  y: z", "must be an http:// or https:// URL"),
        ("--directory", "https://directory.example", "api-key does not exist; write the directory's key into it"),
    ])
    func `a wrong option ends with 64 and its reason`(option: String, value: String, reason: String) async throws {
        var options = Self.options
        let place = try #require(options.firstIndex(of: option))
        options[place + 1] = value
        let ended = try await ChildProgram.run(Self.program("herald"), ["setup", "--config", config] + options)
        #expect(ended.code == 64 && ended.errors.contains(reason), "\(ended.errors)")
        #expect(try files().isEmpty)
    }

    @Test func `a second run changes nothing and ends well`() async throws {
        let first = try await ChildProgram.run(Self.program("herald"), ["setup", "--config", config] + Self.options)
        #expect(first.code == 0, "\(first.errors)")
        let written = try text("herald.yaml")
        let second = try await setup()
        #expect(
            second.code == 0 && second.output.contains("herald.yaml is there and stays as it is"), "\(second.errors)")
        #expect(second.output.contains("First steps:"))
        #expect(try text("herald.yaml") == written && files() == ["herald.yaml"])
    }

    @Test func `a file or a link that is there never changes, and --print shows a new file`() async throws {
        try put("mine\n", in: "herald.yaml")
        let kept = try await ChildProgram.run(Self.program("herald"), ["setup", "--config", config] + Self.options)
        #expect(kept.code == 0 && kept.output.contains("error   configuration"))
        let printed = try await ChildProgram.run(
            Self.program("herald"), ["setup", "--print", "--config", config] + Self.options)
        #expect(printed.code == 0 && printed.output.contains("\npbx:\n  - {name: office, address: 127.83.18.3:5060}\n"))
        #expect(try text("herald.yaml") == "mine\n" && files() == ["herald.yaml"])
        try FileManager.default.removeItem(atPath: config)
        try FileManager.default.createSymbolicLink(atPath: config, withDestinationPath: folder + "/elsewhere")
        _ = try await ChildProgram.run(Self.program("herald"), ["setup", "--config", config] + Self.options)
        #expect(try files() == ["herald.yaml"], "the link's target is not made")
    }

    @Test func `a folder that is missing is named before any question`() async throws {
        let ended = try await TerminalProgram.run(
            Self.program("herald"), ["setup", "--config", folder + "/none/herald.yaml"], [])
        #expect(ended.code == 1)
        #expect(ended.screen.contains("/none cannot be written: No such file or directory; create the folder"))
    }

    @Test func `the umask of the caller does not lock the gateway's group out`() async throws {
        let command = "umask 077; exec \"$0\" setup --config \"$1\" \(Self.options.joined(separator: " "))"
        let ended = try await ChildProgram.run("sh", ["-c", command, Self.program("herald"), config])
        #expect(ended.code == 0, "\(ended.errors)")
        #expect(try mode("herald.yaml") == 0o640)
    }

    @Test func `an operator's file with the name of the draft is not touched`() async throws {
        try put("mine\n", in: "herald.yaml.new")
        let ended = try await ChildProgram.run(Self.program("herald"), ["setup", "--config", config] + Self.options)
        #expect(ended.code == 1 && ended.errors.contains("remove or rename this file"), "\(ended.errors)")
        #expect(try text("herald.yaml.new") == "mine\n" && files() == ["herald.yaml.new"])
    }
}
