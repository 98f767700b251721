// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import ConfigurationFiles
import GatewayAdmin
import GatewayApp
import GatewayStore

/// `herald logos`: which logos there are copies of, and why not of the others.
struct LogosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logos",
        abstract: "List the logos the brands name: state, size, and what went wrong.",
        discussion: """
            Reads the rows beside a running gateway; those whose last fetch failed stand first. Times are UTC. Where \
            there is no copy of any logo, the last lines say why.

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
        let configuration = try options.configuration()
        let reader = try CommandFailure.reported { try LogoReader(folder: configuration.state) }
        let logos = try CommandFailure.reported { try reader.logos(limit: limit) }
        if options.json {
            for logo in logos { try Output.write(json: logo.json) }
        } else {
            let remarks = try CommandFailure.reported { try Self.remarks(configuration, reader) }
            Output.write(Self.table(logos) + remarks.map { $0 + "\n" }.joined())
        }
    }

    /// Why the gateway has no copy of any logo; empty where it has one.
    private static func remarks(_ configuration: HeraldConfiguration, _ reader: LogoReader) throws -> [String] {
        guard configuration.logos != nil else {
            return ["no copies are kept: the configuration has no logos section, and phones get the directory's URLs"]
        }
        guard let obstacles = try reader.obstacles() else { return [] }
        guard obstacles.isEmpty else {
            return obstacles.map {
                "no copy of \($0.count) logo\($0.count == 1 ? "" : "s"): \(TerminalText.visible($0.example))"
            }
        }
        if try BrandCacheReader(folder: configuration.state).hasLogos() {
            return ["no copies yet: the running gateway fetches them after a sync"]
        }
        return [
            "no stored brand names a logo: give the brands a logo_url; for a herald-directory see logos: of "
                + "herald-directory.yaml"
        ]
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
