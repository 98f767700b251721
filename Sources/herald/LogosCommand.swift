// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import GatewayAdmin
import GatewayStore

/// `herald logos`: which logos there are copies of, and why not of the others.
struct LogosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logos",
        abstract: "List the logos the brands name: state, size, and what went wrong.",
        discussion: """
            Reads the rows beside a running gateway; those whose last fetch failed stand first. Times are UTC.

            Examples:
              herald logos
              herald logos --limit 1000 --json
            """)

    @Option(help: "How many logos.")
    var limit = 100

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
    }

    func run() throws {
        let folder = try options.stateFolder()
        let logos = try CommandFailure.reported { try LogoReader(folder: folder).logos(limit: limit) }
        if options.json {
            for logo in logos { try Output.write(json: logo.json) }
        } else {
            Output.write(Self.table(logos))
        }
    }

    private static func table(_ logos: [LogoRow]) -> String {
        guard !logos.isEmpty else { return "no logos\n" }
        var table = TextTable(["STATE", "BYTES", "CHECKED", "NEXT", "URL", "FILES", "ERROR"])
        for logo in logos {
            table.add([
                logo.status, logo.bytes.map(String.init), logo.checkedAt.map { Timestamp.string(from: $0) },
                Timestamp.string(from: logo.dueAt), logo.url, logo.files.joined(separator: " "), logo.error,
            ])
        }
        return table.text
    }
}

extension LogoRow {
    /// The logo as `--json` shows it.
    fileprivate var json: [String: JSONValue?] {
        [
            "url": .string(url), "state": .string(status), "sha256": JSONValue(hash), "bytes": JSONValue(bytes),
            "files": .array(files.map(JSONValue.string)), "reason": JSONValue(reason), "error": JSONValue(error),
            "failures": .int(failures), "fetched_at": JSONValue(seconds: fetchedAt),
            "checked_at": JSONValue(seconds: checkedAt), "due_at": JSONValue(seconds: dueAt),
        ]
    }
}
