// SPDX-License-Identifier: Apache-2.0

import Branding
package import BrandingAPI
import CallAccounting
import ConfigurationFiles
import Primitives

/// The result of `herald lookup` as text and as JSON.
package struct LookupReport {
    let asked: String
    let result: LookupResult
    let trunk: HeraldConfiguration.Trunk
    let region: Region?
    let copy: StoredBrands
    /// Whether brands are not off, by `branding.enabled`, trunk and route.
    let isEnabled: Bool
    /// Whether the call has a brand, or would have, by trunk and route.
    let brands: BrandMode
    /// Nil without a called number.
    let destination: CalledDestination?
    /// The customer whose brands decided; nil for the usual brands.
    let customer: String?
    /// False for a gateway without customers.
    let hasCustomers: Bool
    let logo: LogoResponse

    /// Whether a brand was found for a call in shadow.
    private var isInShadow: Bool { brand != nil && brands == .shadow }
    private var decision: String {
        let reason = isEnabled ? isInShadow ? PassThroughReason.shadow : nil : .policy
        return reason?.description ?? result.decision
    }
    private var brand: LookupResult.Brand? { isEnabled ? result.brand : nil }

    /// The decision with its reason, and the header lines that the phone would get.
    package var text: String {
        let policy = destination?.policy ?? trunk.policy
        let conditions = "\(trunk.isTrusted ? "trusted" : "not trusted"), policy \(policy.rawValue), "
        var lines = [
            ("number", result.number?.description ?? "not certain which number \"\(asked)\" is")
        ]
        lines += reading.map { [("read", $0)] } ?? []
        lines += [
            ("trunk", "\(trunk.name): " + conditions + (region.map { "region \($0)" } ?? "no region"))
        ]
        lines += destination?.lines.dropLast() ?? []
        if hasCustomers, destination?.customer == nil {
            lines.append(("customer", customer ?? "none: calls without a customer have the brands below"))
        }
        lines.append(("brands", copy.origin))
        lines.append(
            (
                "decision",
                (brand == nil || isInShadow ? "pass through: " : "show: ") + decision + cause
            ))
        if let remedy { lines.append(("do", remedy)) }
        if let brand {
            lines.append(("brand", brand.brandID.isEmpty ? brand.name : "\(brand.name) (\(brand.brandID))"))
            lines.append(("logo", logo.text))
            if let card = brand.cardURL { lines.append(("card", card)) }
        }
        let headers = (brand?.headers ?? []).map { TerminalText.visible($0) + "\n" }
        return Self.text(lines) + (headers.isEmpty ? "" : "\n" + headers.joined())
    }

    /// The setting behind a decision without a brand; empty for other decisions.
    private var cause: String {
        if isInShadow { return " (with brands: true as below)" }
        guard !isEnabled else { return "" }
        if destination?.brands == .off { return " (brands of the route)" }
        return trunk.brands == .off ? " (brands of the trunk)" : " (branding.enabled)"
    }

    /// The remedy of a missing brand, as in the story of a call; nil where another line shows it.
    private var remedy: String? {
        if isInShadow { return MissingBrand(.shadow, trunk: trunk.name).remedy.text { $0 } }
        guard brand == nil, destination?.brands != .off else { return nil }
        guard isEnabled else {
            let key = trunk.brands == .off ? "brands: true for trunk \(trunk.name)" : "branding.enabled: true"
            return "Set \(key), then run herald reload."
        }
        guard let reason = PassThroughReason.allCases.first(where: { $0.description == decision }) else { return nil }
        if reason == .policy {
            return "Ask the carrier for a better attestation, or set another policy. Then run herald reload."
        }
        guard reason.isGate || [.noMatch, .untrusted, .stale].contains(reason) else { return nil }
        let number = result.number.map { StoryText(number: $0.description) }
        return MissingBrand(reason, trunk: trunk.name, caller: number).remedy.text { $0 }
    }

    /// How a number without a plus sign was read, so that a wrong region is seen; nil for other texts.
    private var reading: String? {
        guard !asked.hasPrefix("+"), asked.contains(where: \.isNumber), !asked.contains(where: \.isLetter) else {
            return nil
        }
        guard let region else {
            return result.number == nil
                ? "trunk \(trunk.name) has no region: it reads numbers with a plus sign alone" : nil
        }
        guard let number = result.number else {
            return "no certain number by region \(region) of trunk \(trunk.name); check the region of the trunk"
        }
        return "\"\(asked)\" read as \(number) by region \(region) of trunk \(trunk.name)"
    }

    /// Names and values as lines with two columns.
    static func text(_ lines: [(String, String)]) -> String {
        lines.map { name, value in
            name + String(repeating: " ", count: 10 - name.count) + TerminalText.visible(value) + "\n"
        }.joined()
    }

    /// The same for `--json`.
    package var json: [String: JSONValue?] {
        decided.merging(destination?.json ?? [:]) { decided, _ in decided }
    }

    private var decided: [String: JSONValue?] {
        [
            "asked": .string(asked), "customer": JSONValue(customer), "number": JSONValue(result.number?.description),
            "trunk": .string(trunk.name),
            "region": JSONValue(region?.description), "decision": .string(decision),
            "shown": .bool(brand != nil && !isInShadow),
            "brand_name": JSONValue(brand?.name), "brand_id": JSONValue(brand?.brandID),
            "logo_url": JSONValue(brand?.logoURL), "card_url": JSONValue(brand?.cardURL),
            "no_logo_because": brand.flatMap { _ in JSONValue(logo.obstacle) },
            "headers": brand.map { .array($0.headers.map(JSONValue.string)) },
        ]
    }
}
