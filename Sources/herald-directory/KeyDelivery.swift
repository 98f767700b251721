// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// Delivers a new key to standard output or into a file; the key is never shown again and never logged.
struct KeyDelivery: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the key to a file that only its owner can read; an existing file keeps its owner.",
            valueName: "file"))
    var write: String?

    /// Creates a key and delivers it.
    ///
    /// - Parameters:
    ///   - make: creates the key.
    ///   - signing: creates or finds the signing secret of the key; nil for none.
    ///   - showsSigning: true shows a new signing secret even if the key goes into a file.
    ///   - undo: removes a key that could not be delivered.
    func deliver(
        _ name: String, make: () throws -> String,
        signing: (_ key: String) throws -> SigningSecrets.Secret? = { _ in nil }, showsSigning: Bool = true,
        undo: (_ key: String) throws -> Void
    ) throws {
        let key = try reportingRefusals(make)
        let secret = try signing(key).map { "id \($0.id)\nsecret \($0.secret)\n" }
        guard let write else { return Output.write(secret.map { "key \(key)\n\($0)" } ?? key + "\n") }
        do {
            // The file has the key only, because the gateway reads it.
            try PrivateFile.write(Array("\(key)\n".utf8), to: write, keepsOwner: true)
        } catch {
            try undo(key)
            throw CommandFailure("\(error)")
        }
        Output.write("key \"\(TerminalText.visible(name))\" written to \(write)\n")
        if let secret, showsSigning { Output.write(secret) }
    }
}
