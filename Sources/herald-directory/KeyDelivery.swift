// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore

/// Where a new key goes: to standard output, or into a file.
///
/// It is never shown again and never logged.
struct KeyDelivery: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write it to a file that only its owner can read, instead of showing it; one that is there keeps its owner.",
            valueName: "file"))
    var write: String?

    /// Makes a key and hands it over.
    ///
    /// - Parameters:
    ///   - make: makes the key; called once the file can be written.
    ///   - signing: makes or finds what its requests are signed with, where that is wanted.
    ///   - showsSigning: shows that too when the key goes into a file: it is new, and a gateway wants it elsewhere.
    ///   - undo: takes the key back when it could not be handed over, because then nobody has seen it.
    func deliver(
        _ name: String, make: () throws -> String,
        signing: (_ key: String) throws -> SigningSecrets.Secret? = { _ in nil }, showsSigning: Bool = true,
        undo: (_ key: String) throws -> Void
    ) throws {
        let key = try explained(make)
        let secret = try signing(key).map { "id \($0.id)\nsecret \($0.secret)\n" }
        guard let write else { return Output.write(secret.map { "key \(key)\n\($0)" } ?? key + "\n") }
        do {
            // Nothing but the key: it is what the gateway reads from there.
            try PrivateFile.write(key + "\n", to: write)
        } catch {
            try undo(key)
            throw CommandFailure("\(error)")
        }
        Output.write("key \"\(TerminalText.visible(name))\" written to \(write)\n")
        if let secret, showsSigning { Output.write(secret) }
    }
}
