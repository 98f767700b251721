// SPDX-License-Identifier: Apache-2.0

/// The rules for rendering brands as header bytes. A change requires a rebuild of the index.
public struct RenderingProfile: Hashable, Sendable {
    /// The largest display name in bytes of UTF-8, before quoting; 1 to 500. Asterisk cuts at 80.
    public var maxNameBytes: Int
    /// The largest call reason in characters; 1 to 200. RFC 9796 recommends at most 64.
    public var maxReasonCharacters: Int
    /// The treatment of `%` and `${`.
    public var percent: PercentPolicy
    /// The treatment of `"` and `\`.
    public var quotes: QuotePolicy
    /// Allows `http:` logos in Call-Info; only for demonstrations on one machine.
    public var allowInsecureLogos: Bool
    /// The logos that the gateway serves; nil if Call-Info gets the directory's URLs.
    public var logos: HostedLogos?

    /// Creates a profile. Clamps values to their range.
    public init(
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

    /// A hash that differs between profiles, and between versions of the rendering rules.
    var fingerprint: UInt64 {
        let rules =
            "rules 1, name \(maxNameBytes), reason \(maxReasonCharacters), \(percent), http \(allowInsecureLogos)"
        let quotes = quotes == .escape ? "" : ", quotes \(quotes)"
        return stableHash(rules + quotes + (logos.map { ", logos \($0.fingerprint)" } ?? ""))
    }
}

/// The treatment of `%` and `${` in names and call reasons.
///
/// FreeSWITCH decodes `%41` in a display name and expands `${…}`. A directory must not be able to use either.
public enum PercentPolicy: String, Hashable, Sendable, CaseIterable {
    /// Replaces `%` by the word percent, and removes the dollar sign of `${`.
    case spellOut
    /// Keeps both, for PBXs that do not interpret them.
    case keep
}

/// The treatment of `"` and `\` in names and call reasons.
///
/// Asterisk keeps the backslashes of a quoted-string in the caller's name, so phones show them.
public enum QuotePolicy: String, Hashable, Sendable, CaseIterable {
    /// Escapes both with a backslash (RFC 3261 §25.1).
    case escape
    /// Replaces quotes by “ and ” and backslashes by slashes, so that no escape is needed.
    case typographic
}
