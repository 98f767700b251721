// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import ConfigurationFiles
import GatewayConfiguration
import GatewayStore
package import Host
package import Primitives

/// `herald logos list`: lists the logos that brands name, with the state of their copies.
package struct LogoListing {
    private let configuration: HeraldConfiguration
    private let customer: String?

    /// - Parameters:
    ///   - configuration: names the state folder and the `logos` section.
    ///   - customer: the customer whose brands name the logos; nil for the usual brands.
    /// - Throws: for an unknown customer, and without one where only customers have brands.
    package init(_ configuration: HeraldConfiguration, customer: String? = nil) throws(CommandFailure) {
        let owner = try configuration.brandOwner(named: customer)
        self.configuration = configuration.seen(by: owner)
        self.customer = owner?.name
    }

    /// Writes the logos to standard output, failed ones first.
    ///
    /// - Throws: `CommandFailure` when the database cannot be read.
    package func list(limit: Int, _ form: TableForm, asJSON: Bool) throws {
        for line in try lines(limit: limit, form, asJSON: asJSON) { Output.write(line) }
    }

    /// The output: a line for each logo in JSON, else one text.
    func lines(limit: Int, _ form: TableForm, asJSON: Bool) throws -> [String] {
        let reader = try CommandFailure.reported { try LogoReader(folder: configuration.state) }
        if let customer, configuration.logos == nil {
            let logos = try CommandFailure.reported { try reader.named(limit: limit) }
            return asJSON ? try logos.map { try Output.line(json: json($0, customer)) } : [text(logos, customer, form)]
        }
        let logos = try CommandFailure.reported { try reader.logos(limit: limit) }
        if asJSON {
            return try logos.map { logo in
                try Output.line(json: logo.json.merging(customer.map { ["customer": .string($0)] } ?? [:]) { $1 })
            }
        }
        let remarks = try CommandFailure.reported { try self.remarks(reader) } + otherSets
        return [Self.table(logos, form) + remarks.map { $0 + "\n" }.joined()]
    }

    /// The logos of a customer without copies, with what phones get of each.
    private func text(_ logos: [NamedLogo], _ customer: String, _ form: TableForm) -> String {
        guard !logos.isEmpty else {
            return
                "no stored brand of \(customer) names a logo; herald sync --customer \(customer) fetches its brands\n"
        }
        var table = TextTable(["NUMBERS", "URL", "IN CALLS"], form)
        for logo in logos { table.add([String(logo.numbers), logo.url, obstacle(logo).map { "no: \($0)" } ?? "yes"]) }
        return table.text
            + "no copies of these logos are kept: phones fetch these URLs; see logos of customers in herald.yaml\n"
    }

    private func json(_ logo: NamedLogo, _ customer: String) -> [String: JSONValue?] {
        let obstacle = obstacle(logo)
        return [
            "customer": .string(customer), "url": .string(logo.url), "numbers": .int(logo.numbers),
            "in_calls": .bool(obstacle == nil), "no_logo_because": JSONValue(obstacle),
        ]
    }

    /// Why no call gets the URL; nil if calls get it.
    private func obstacle(_ logo: NamedLogo) -> String? {
        let branding = configuration.branding
        let shown = CallInfo(logoURL: logo.url, reason: nil, profile: configuration.renderingProfile).logoURL
        return LogoResponse(
            named: logo.url, shown: shown, writesCallInfo: branding.writesCallInfo,
            allowsInsecure: branding.allowsInsecureLogos, copy: nil
        ).obstacle
    }

    /// Where the logos of other brands are listed.
    private var otherSets: [String] {
        configuration.customers.isEmpty || customer != nil
            ? [] : ["logos of calls without a customer; herald logos --customer NAME lists those of a customer"]
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

    private static func table(_ logos: [LogoRow], _ form: TableForm) -> String {
        guard !logos.isEmpty else { return "no logos\n" }
        var table = TextTable(
            ["STATE", "BYTES", "CHECKED", "NEXT", "URL", "FILES", "ERROR"], form,
            wideOnly: ["BYTES", "CHECKED", "NEXT", "FILES"])
        for logo in logos {
            table.add([
                logo.status, logo.bytes.map(String.init), logo.checkedAt.map { OperatorTime.text($0) },
                OperatorTime.text(logo.dueAt), logo.url, logo.files.joined(separator: " "), logo.error,
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
