// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Host
import Primitives

/// `herald-directory restore`: a backup in the place of the database of a stopped server.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of the database of a stopped server; the replaced database is kept.",
        discussion: """
            Copies the backup and checks the copy as a whole before the first change: damage, version, tables. A running server,
            a damaged backup, one of another program or of a newer version changes nothing and ends with 1. Logos and logs are
            taken from the folders logos and uploads beside the file. Gateways receive the whole set with their next sync.
            --dry-run stops after the checks, also beside a running server.

            Example:
              herald-directory restore --dry-run /var/backups/directory-2026-01-31.sqlite
              herald-directory restore /var/backups/directory-2026-01-31.sqlite
            """)

    @Argument(help: "The file of herald-directory backup.")
    var file: String

    @Flag(name: .customLong("dry-run"), help: "Check the backup and change nothing.")
    var checksOnly = false

    @Flag(help: "One JSON object instead of text.")
    var json = false

    @OptionGroup var options: StateOptions

    func run() throws {
        // A server beside a check goes first.
        if checksOnly { OwnThread.lower(to: 10) }
        let restore = DirectoryRestore(folder: try options.stateFolder(), now: secondsNow())
        let result = try reportingRefusals { try checksOnly ? restore.check(file) : restore.run(from: file) }
        warn(result)
        if json { return try Output.write(json: result) }
        let name = TerminalText.visible(file)
        guard !checksOnly else { return Output.write("\(name) can be restored: \(result.contents.text)\n") }
        var lines = ["\(name) restored: \(result.contents.text)"]
        if result.files > 0 { lines.append("\(result.files) files of logos and logs restored") }
        if let kept = result.replaced { lines.append("the replaced database is in \(TerminalText.visible(kept))") }
        lines.append("start herald-directory; gateways receive the whole set with their next sync")
        Output.write(lines.map { $0 + "\n" }.joined())
    }

    private func warn(_ result: DirectoryRestore.Result) {
        if !result.missingLogos.isEmpty {
            let names = result.missingLogos.prefix(10).joined(separator: ", ")
            Output.warn(
                "\(result.missingLogos.count) logos have no file beside the backup or in the state folder: \(names); "
                    + "add them again with herald-directory logos add")
        }
        if result.missingLogs > 0 {
            Output.warn("\(result.missingLogs) logs of devices have no file beside the backup; they cannot be read")
        }
    }
}
