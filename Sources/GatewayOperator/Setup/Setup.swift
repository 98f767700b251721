// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
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
        try await SetupWriting(text: text, config: options.config, keyPath: options.keyPath).run(key)
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

    private func key(
        of values: SetupValues, _ local: LocalDirectory?, _ terminal: SetupTerminal?
    ) throws(SetupProblem) -> SetupKey {
        guard let directory = values.directory, !isThere(options.keyPath) else { return .present }
        if let local, local.url == directory.url { return .local(local) }
        guard let terminal else {
            let path = shown(options.keyPath)
            throw SetupProblem("\(path) does not exist; write the directory's key into it, or give --key-file FILE")
        }
        while true {
            let text = try terminal.hidden("API key of \(ShownURL.text(directory.url)) (not shown): ")
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
