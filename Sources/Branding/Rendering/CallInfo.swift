// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A brand's logo and call reason for one Call-Info value (RFC 3261 §20.9, RFC 9796).
///
/// Never includes `verified`: the directory's data has not been verified as in RFC 9795 §8. `CallerCard` writes it.
public struct CallInfo: Hashable, Sendable {
    /// URL of the logo; nil if there is none, or none that is safe in a header.
    public let logoURL: String?
    /// The call reason, cleaned and cut; nil if absent.
    public let reason: String?

    public init(logoURL: String?, reason: String?, profile: RenderingProfile) {
        self.logoURL = logoURL.flatMap { url in
            if let logos = profile.logos {
                return logos.address(for: url, allowInsecure: profile.allowInsecureLogos)
            }
            return LogoURL.isSafe(url, allowInsecure: profile.allowInsecureLogos) ? url : nil
        }
        // Four bytes per character suffice for every script, and limit stacked accents.
        let cleaned = reason.map {
            HeaderText.clean(
                $0, maxBytes: profile.maxReasonCharacters * 4, maxCharacters: profile.maxReasonCharacters,
                profile: profile)
        }
        self.reason = cleaned == "" ? nil : cleaned
    }

    /// The prefix of a call reason without a logo: the null URI of RFC 9796.
    static let nullIcon: StaticString = "<data:>;purpose=jcard"
    /// The suffix of a logo URL.
    static let iconPurpose: StaticString = ">;purpose=icon"

    /// Appends `<logo>;purpose=icon`, or nothing without a logo.
    func appendIcon(to out: inout [UInt8]) {
        guard let logoURL else { return }
        out.append(UInt8(ascii: "<"))
        out.append(contentsOf: logoURL.utf8)
        out.append(Self.iconPurpose)
    }

    /// Appends `;call-reason="…"`, or nothing without a call reason.
    func appendReason(to out: inout [UInt8]) {
        guard let reason else { return }
        out.append(contentsOf: ";call-reason=".utf8)
        QuotedString.append(reason, to: &out)
    }
}

extension [UInt8] {
    /// Appends the bytes of a literal without creating a `String`.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }
}
