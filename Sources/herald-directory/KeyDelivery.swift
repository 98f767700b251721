// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Directory

/// Where a new key goes: to standard output, or into a file.
///
/// It is never shown again and never logged.
struct KeyDelivery: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write it to a file that only this user can read, instead of showing it.", valueName: "file"))
    var write: String?

    /// Makes a key and hands it over.
    ///
    /// - Parameters:
    ///   - make: makes the key; called once the file can be written.
    ///   - signing: makes what its requests are signed with, where that is wanted.
    ///   - undo: takes the key back when it could not be handed over, because then nobody has seen it.
    func deliver(
        _ name: String, make: () throws -> String,
        signing: (_ key: String) throws -> SigningSecrets.Secret? = { _ in nil },
        undo: (_ key: String) throws -> Void
    ) throws {
        let key = try explained(make)
        let text = try signing(key).map { "key \(key)\nid \($0.id)\nsecret \($0.secret)\n" } ?? key + "\n"
        guard let write else { return Output.write(text) }
        do {
            try PrivateFile.write(text, to: write)
        } catch {
            try undo(key)
            throw error
        }
        Output.write("key \"\(TerminalText.visible(name))\" written to \(write)\n")
    }
}
