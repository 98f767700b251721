// SPDX-License-Identifier: Apache-2.0

/// How brands are turned into header bytes; part of the index, so a change of it means building the index again.
package struct RenderingProfile: Hashable, Sendable {
    /// The longest display name in bytes of UTF-8, before quoting; 1 to 500 (Asterisk cuts at 80).
    package var maxNameBytes: Int
    /// The longest call reason in characters; 1 to 200, of which RFC 9796 recommends 64.
    package var maxReasonCharacters: Int
    /// What becomes of `%` and `${`.
    package var percent: PercentPolicy
    /// How `"` and `\` are written.
    package var quotes: QuotePolicy
    /// Lets `http:` logos into Call-Info; only for demonstrations on one machine.
    package var allowInsecureLogos: Bool
    /// The logos the gateway serves itself; nil where it serves none and the directory's URLs are written.
    package var logos: HostedLogos?

    /// Values out of range are moved to the nearest allowed one.
    package init(
        maxNameBytes: Int = 80, maxReasonCharacters: Int = 64, percent: PercentPolicy = .spellOut,
        quotes: QuotePolicy = .escape, allowInsecureLogos: Bool = false, logos: HostedLogos? = nil
    ) {
        self.maxNameBytes = min(max(maxNameBytes, 1), 500)
        self.maxReasonCharacters = min(max(maxReasonCharacters, 1), 200)
        self.percent = percent
        self.quotes = quotes
        self.allowInsecureLogos = allowInsecureLogos
        self.logos = logos
    }

    /// A number that differs between profiles, and between versions of the rendering rules.
    var fingerprint: UInt64 {
        let rules =
            "rules 1, name \(maxNameBytes), reason \(maxReasonCharacters), \(percent), http \(allowInsecureLogos)"
        let quotes = quotes == .escape ? "" : ", quotes \(quotes)"
        return stableHash(rules + quotes + (logos.map { ", logos \($0.fingerprint)" } ?? ""))
    }
}
