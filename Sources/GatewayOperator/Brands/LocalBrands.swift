// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import ConfigurationFiles
import GatewayStore
package import Host
package import Primitives

/// `herald brands list` and `herald brands show`: lists the brands of the local copy, or shows one with its numbers, logo, gates and last calls.
package struct LocalBrands {
    /// Brands that are compared with a mistyped name.
    private static let mostCompared = 20_000

    private let configuration: HeraldConfiguration
    private let customer: String?
    private let reader: BrandCacheReader
    /// The ledger of all customers, which is in the state folder of the gateway.
    private let ledger: String

    /// Opens the copy, beside a running gateway or without one.
    ///
    /// - Parameter customer: the customer whose brands are meant; nil for those of calls without a customer.
    /// - Throws: `CommandFailure` for an unknown customer, for brands of a file, and when the copy cannot be read.
    package init(_ configuration: HeraldConfiguration, customer: String?) throws(CommandFailure) {
        let owner = try configuration.brandOwner(named: customer)
        let own = configuration.seen(by: owner)
        if let path = own.brandsFile {
            throw CommandFailure(
                "brands come from the file \(path), which lists them; herald lookup NUMBER decides about one of them")
        }
        (self.configuration, self.customer, ledger) = (own, owner?.name, configuration.state)
        reader = try CommandFailure.reported { try BrandCacheReader(folder: own.state) }
    }

    /// Writes the brands by name.
    package func list(limit: Int, _ form: TableForm, asJSON: Bool) throws {
        let brands = try CommandFailure.reported { try reader.brands(limit: limit) }
        if asJSON {
            for brand in brands { try Output.write(json: brand.json) }
            return
        }
        guard !brands.isEmpty else { return Output.write("no brands; herald sync fetches those of the directory\n") }
        Output.write(Self.table(brands, form))
        if brands.count == limit { Output.warn("\(limit) brands are listed; --limit N lists up to N") }
    }

    /// Writes one brand.
    ///
    /// - Parameter name: its identifier, or its whole name.
    /// - Throws: `CommandFailure` for an unknown name, with a similar one.
    package func show(_ name: String, asJSON: Bool, now: Int64, zone: LocalZone = .ofProcess) throws {
        let report = try report(on: name, now: now)
        if asJSON { try Output.write(json: report.json(in: zone)) } else { Output.write(report.text(in: zone)) }
    }

    /// Reads the brand, its gates and its calls.
    func report(on name: String, now: Int64) throws -> BrandReport {
        let rows = try CommandFailure.reported { try reader.brands(named: name) }
        guard let first = rows.first else { throw CommandFailure(try unknown(name)) }
        let copy = try CommandFailure.reported { try StoredBrands(configuration, of: first.first) }
        let shown = copy.index.entry(for: first.first).flatMap { copy.index.logoURL(of: $0) }
        let branding = configuration.branding
        let logo = LogoResponse(
            named: copy.namedLogo, shown: shown, writesCallInfo: branding.writesCallInfo,
            allowsInsecure: branding.allowsInsecureLogos, copy: copy.logoCopy)
        return BrandReport(
            rows: rows, customer: customer, logo: logo, cardURL: copy.cards?.address(of: first.brandID),
            gates: copy.gates, origin: copy.origin,
            isEnabled: branding.isEnabled, calls: Result { try calls(of: first, now: now) })
    }

    private func calls(of brand: BrandRow, now: Int64) throws -> BrandReport.Calls {
        let ledger = LedgerReader(try HeraldDatabase.ledgerReader(folder: ledger))
        var filter = CallFilter()
        filter.brand = brand.brandID.isEmpty ? brand.name : brand.brandID
        // No phone showed it in a call in shadow.
        filter.decisions = ["matched"]
        filter.customer = customer
        let last = try ledger.calls(matching: filter, limit: BrandReport.Calls.most)
        filter.since = now - BrandReport.Calls.span
        let counts = try ledger.counts(matching: filter)
        return BrandReport.Calls(counts: counts, since: now - BrandReport.Calls.span, last: last)
    }

    private func unknown(_ name: String) throws -> String {
        let names = try CommandFailure.reported { try reader.names(limit: Self.mostCompared) }
        let hint = NearestName.hint(name, among: names)
        return TerminalText.visible("no brand has the identifier or the name \(name)\(hint)")
            + "; herald brands lists those of the local copy"
    }

    /// A brand with several names, logos or reasons has their number.
    static func table(_ brands: [ListedBrand], _ form: TableForm) -> String {
        var table = TextTable(
            ["BRAND", "NAME", "NUMBERS", "FIRST NUMBER", "LOGOS", "REASONS"], form, whole: ["BRAND", "FIRST NUMBER"])
        for brand in brands {
            table.add([
                brand.brandID, brand.names > 1 ? "\(brand.name) and \(brand.names - 1) more" : brand.name,
                String(brand.numbers), "\(brand.first)", String(brand.logos), String(brand.reasons),
            ])
        }
        return table.text
    }
}

extension ListedBrand {
    /// A text of which the brand has several is left out; `herald brands show` has them all.
    var json: [String: JSONValue?] {
        [
            "brand_id": brandID.isEmpty ? nil : .string(brandID), "name": .string(name), "names": .int(names),
            "logo_url": JSONValue(logoURL), "logos": .int(logos), "call_reason": JSONValue(callReason),
            "call_reasons": .int(reasons), "numbers": .int(numbers), "first_number": .string("\(first)"),
            "last_number": .string("\(last)"), "updated_at": updatedAt.isEmpty ? nil : .string(updatedAt),
        ]
    }
}

extension BrandRow {
    var json: [String: JSONValue?] {
        [
            "brand_id": brandID.isEmpty ? nil : .string(brandID), "name": .string(name), "logo_url": JSONValue(logoURL),
            "call_reason": JSONValue(callReason), "numbers": .int(numbers), "first_number": .string("\(first)"),
            "last_number": .string("\(last)"), "updated_at": updatedAt.isEmpty ? nil : .string(updatedAt),
        ]
    }
}
