// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewaySync
import Host
import Primitives

/// `herald setup`: writes the first configuration of a gateway, makes its key, and reports what is left.
///
/// Nothing is written before the last reply, and a present file never changes.
package struct Setup: Sendable {
    private let options: SetupOptions
    private let reach: PeerReach

    package init(_ options: SetupOptions) { self.init(options, reach: .system) }

    init(_ options: SetupOptions, reach: PeerReach) { (self.options, self.reach) = (options, reach) }

    /// Runs the setup.
    ///
    /// - Throws: `SetupProblem` for missing or wrong options and values, `CommandFailure` where something cannot be written.
    package func run() async throws {
        guard options.print || !isThere(options.config) else {
            let file = shown(options.config)
            Output.write("\(file) is there and stays as it is; herald setup --print shows a new one\n\n")
            return await report()
        }
        if !options.print { try checkFolder() }
        let local = LocalDirectory(besideConfigurationIn: options.folder)
        let terminal = SetupTerminal.isThere && !options.yes ? SetupTerminal() : nil
        if terminal == nil { try checkOptions(local) }
        let values = try await SetupQuestions(options, local: local, reach: reach, terminal: terminal).values()
        let text = SetupFile(values, path: options.config).text
        guard !options.print else { return Output.write(text) }
        let key = try key(of: values, local, terminal)
        if let terminal { try confirm(text, terminal) }
        try await write(text, key, local)
        for remark in remarks(values) { Output.write("note    \(remark)\n") }
        Output.write("\n")
        await report()
    }

    // MARK: Before the questions

    /// Whether a name is taken, also by a link without a target.
    private func isThere(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    private func checkFolder() throws(CommandFailure) {
        guard access(options.folder, W_OK | X_OK) != 0 else { return }
        let reason = SystemError.text(errno)
        let isForbidden = reason == SystemError.text(EACCES)
        let remedy = isForbidden ? "run sudo herald setup" : "create the folder, or install the package"
        throw CommandFailure("the folder \(shown(options.folder)) cannot be written: \(reason); \(remedy)")
    }

    /// Reports all options that are missing at once, because a script cannot be asked.
    private func checkOptions(_ local: LocalDirectory?) throws(SetupProblem) {
        var missing: [String] = []
        if options.carrier.isEmpty { missing.append("--carrier ADDRESS") }
        if options.pbx == nil { missing.append("--pbx ADDRESS") }
        if options.country == nil { missing.append("--country COUNTRY") }
        if options.vouches == nil { missing.append("--vouches or --no-vouches") }
        if options.directory == nil, local == nil { missing.append("--directory URL, or --directory none") }
        guard !missing.isEmpty else { return }
        let cause = options.yes ? "--yes asks nothing" : "there is no terminal to ask at"
        throw SetupProblem("\(cause); give also: \(missing.joined(separator: ", "))")
    }

    // MARK: The key

    /// The way to the directory's key.
    private enum Key {
        /// Its file is there, or no directory needs one.
        case present
        /// The directory on this machine makes it.
        case local
        case typed(Concealed<String>)
    }

    private func key(
        of values: SetupValues, _ local: LocalDirectory?, _ terminal: SetupTerminal?
    ) throws(SetupProblem) -> Key {
        guard let directory = values.directory, !isThere(options.keyPath) else { return .present }
        if let local, local.url == directory.url { return .local }
        guard let terminal else {
            let path = shown(options.keyPath)
            throw SetupProblem("\(path) does not exist; write the directory's key into it, or give --key-file FILE")
        }
        while true {
            let text = try terminal.hidden("API key of \(directory.url) (not shown): ")
            if (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
                return .typed(Concealed(text))
            }
            terminal.write("  a key has 1 to 1024 visible ASCII characters without blanks\n")
        }
    }

    private func confirm(_ text: String, _ terminal: SetupTerminal) throws {
        terminal.write("\n\(text)\n")
        while true {
            let line = try terminal.line("Write this to \(shown(options.config))? [Y/n]: ")
            let isWanted = try? SetupQuestions.yes(line.isEmpty ? "yes" : line)
            if isWanted == true { return }
            guard isWanted == nil else { throw CommandFailure("not confirmed; nothing was written") }
            terminal.write("  write yes or no\n")
        }
    }

    // MARK: Writing

    /// The content of the key file, and a remark on its origin.
    private struct NewKey {
        let content: String
        let remark: String
    }

    /// Writes the key, then the configuration: a gateway that starts in between has no configuration, and waits.
    private func write(_ text: String, _ key: Key, _ local: LocalDirectory?) async throws {
        try store(text, try await made(key, local))
    }

    /// The key to write; nil for one that has its file.
    private func made(_ key: Key, _ local: LocalDirectory?) async throws -> NewKey? {
        switch key {
        case .present: return nil
        case .typed(let key): return NewKey(content: key.reveal(), remark: "")
        case .local:
            guard let local else { return nil }
            let remark = ": the key \"\(LocalDirectory.keyName)\" of the directory on this machine"
            return NewKey(content: try await local.makeKey(), remark: remark)
        }
    }

    /// Not inlined, because the optimiser of Swift 6.3 ends with a signal in an asynchronous function with these calls.
    @inline(never)
    private func store(_ text: String, _ key: NewKey?) throws {
        if let key {
            try create(options.keyPath, key.content + "\n")
            Output.write("\(shown(options.keyPath)) written\(key.remark)\n")
        }
        let check = ConfigurationCheck(text: text, path: options.config)
        guard check.problems.isEmpty else {
            throw CommandFailure("the configuration would not be accepted, and was not written:\n" + check.problemText)
        }
        try create(options.config, text)
        Output.write("\(shown(options.config)) written\n")
    }

    /// Creates a file that the group of its folder reads: that of the gateway's user, as the packages set it.
    private func create(_ path: String, _ text: String) throws(CommandFailure) {
        // A Ctrl-C between the draft and its name must not leave the draft.
        let usual = signal(SIGINT, SIG_IGN)
        defer { _ = signal(SIGINT, usual) }
        try CommandFailure.reported {
            let file = try FileReplacement(of: path, replacesDraft: false)
            let folder = (path as NSString).deletingLastPathComponent
            let owner = try? FileManager.default.attributesOfItem(atPath: folder.isEmpty ? "." : folder)
            if let group = owner?[.groupOwnerAccountID] as? Int { try file.share(withGroup: UInt32(group)) }
            try file.write(Array(text.utf8))
            try file.commit(replaces: false)
        }
    }

    // MARK: After it

    private func remarks(_ values: SetupValues) -> [String] {
        let own = values.outside.host
        let hop = values.carrier.sources.first?.host ?? ""
        let isBehindNAT = HostAddress(own)?.isPublic == false && HostAddress(hop)?.isPublic == true
        guard isBehindNAT else { return [] }
        return [
            "\(own) is private and the carrier's address is public; behind NAT, add advertise with the public address to "
                + "the entry of listen"
        ]
    }

    /// Runs the doctor, then lists the steps that are left.
    private func report() async {
        Output.write(await Doctor(path: options.config).examine().text)
        guard let configuration = try? HeraldConfiguration.load(path: options.config, secrets: .ignored) else { return }
        let state = try? await ControlClient(folder: configuration.runtime).state()
        Output.write("\n" + FirstStepsText(configuration, state, path: options.config).text)
    }

    private func shown(_ path: String) -> String { TerminalText.visible(path) }
}
