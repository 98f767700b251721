// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Host
import Primitives

/// The way to the directory's key.
enum SetupKey: Sendable {
    /// Its file is there, or no directory needs one.
    case present
    /// The directory on this machine makes it.
    case local(LocalDirectory)
    case typed(Concealed<String>)

    var isPresent: Bool { if case .present = self { true } else { false } }
}

/// Writes the key and the configuration of the setup.
///
/// Both drafts are there before a key is made, because a directory makes a key once and shows it once. Signals wait until
/// both files have their names.
struct SetupWriting {
    /// The content of the key file, and a remark on its origin.
    private struct NewKey {
        let content: String
        let remark: String
        /// Appended to the reason why its file cannot be written.
        let loss: String
    }

    /// The configuration and its path.
    let text: String
    let config: String
    let keyPath: String

    /// - Throws: the reason why something cannot be written; the key's file may be there then, and is used by the next setup.
    func run(_ key: SetupKey) async throws(CommandFailure) {
        try check(isKeyThere: key.isPresent)
        let shield = InterruptShield()
        do throws(CommandFailure) {
            try await write(key)
        } catch {
            shield.drop()
            throw error
        }
        shield.end()
    }

    private func check(isKeyThere: Bool) throws(CommandFailure) {
        let check = ConfigurationCheck(text: text, path: config, secrets: isKeyThere ? .read : .ignored)
        guard !check.problems.isEmpty else { return }
        throw CommandFailure("the configuration would not be accepted, and was not written:\n" + check.problemText)
    }

    private func write(_ key: SetupKey) async throws(CommandFailure) {
        let configDraft = try SetupDraft(of: config)
        let keyDraft = try key.isPresent ? nil : SetupDraft(of: keyPath)
        let made = try await made(key)
        // The key comes first: a gateway that starts in between has no configuration, and waits.
        if let made, let keyDraft { try store(made, keyDraft) }
        try configDraft.commit(text)
        // Lines come last: they end the program where the terminal is gone.
        if let made { Output.write("\(TerminalText.visible(keyPath)) written\(made.remark)\n") }
        Output.write("\(TerminalText.visible(config)) written\n")
    }

    /// The key to write; nil for one that has its file.
    private func made(_ key: SetupKey) async throws(CommandFailure) -> NewKey? {
        switch key {
        case .present: return nil
        case .typed(let key): return NewKey(content: key.reveal(), remark: "", loss: "")
        case .local(let directory):
            let content = try await directory.makeKey()
            let name = LocalDirectory.keyName
            return NewKey(
                content: content, remark: ": the key \"\(name)\" of the directory on this machine",
                loss: ". The directory has made the key \"\(name)\", which no file has: revoke it "
                    + "(\(LocalDirectory.revocation)) and run herald setup again")
        }
    }

    private func store(_ key: NewKey, _ draft: SetupDraft) throws(CommandFailure) {
        do throws(CommandFailure) {
            try draft.commit(key.content + "\n")
        } catch {
            throw CommandFailure("\(error)\(key.loss)")
        }
    }
}
