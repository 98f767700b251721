// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import GatewayAdmin
import GatewayStore
import SafeText

/// `herald logos`: lists the logos that brands name, with the state of their copies.
package struct LogoListing {
    private let configuration: HeraldConfiguration

    /// - Parameter configuration: names the state folder and the `logos` section.
    package init(_ configuration: HeraldConfiguration) { self.configuration = configuration }

    /// Writes the logos to standard output, failed ones first.
    ///
    /// - Throws: `CommandFailure` when the database cannot be read.
    package func list(limit: Int, asJSON: Bool) throws {
        let reader = try CommandFailure.reported { try LogoReader(folder: configuration.state) }
        let logos = try CommandFailure.reported { try reader.logos(limit: limit) }
        if asJSON {
            for logo in logos { try Output.write(json: logo.json) }
        } else {
            let remarks = try CommandFailure.reported { try self.remarks(reader) }
            Output.write(Self.table(logos) + remarks.map { $0 + "\n" }.joined())
        }
    }

    /// Why the gateway has no copy of any logo; empty where it has one.
    private func remarks(_ reader: LogoReader) throws -> [String] {
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
