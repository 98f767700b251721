// SPDX-License-Identifier: Apache-2.0

/// Logo and reason of a brand as they can stand in one Call-Info value (RFC 3261 §20.9, RFC 9796).
///
/// Never `verified`: a name that comes from a directory alone has not been through RFC 9795 §8.
package struct CallInfo: Hashable, Sendable {
    /// Where the picture is; nil when there is none, or none that may stand in a header.
    package let logoURL: String?
    /// Why the brand calls, cleaned and cut; nil when it does not say.
    package let reason: String?

    package init(logoURL: String?, reason: String?, profile: RenderingProfile) {
        self.logoURL = logoURL.flatMap { url in
            if let logos = profile.logos {
                return logos.address(for: url, allowInsecure: profile.allowInsecureLogos)
            }
            return LogoURL.isSafe(url, allowInsecure: profile.allowInsecureLogos) ? url : nil
        }
        // A character may be many bytes; four each are enough for every script, and an end for stacked accents.
        let cleaned = reason.map {
            HeaderText.clean(
                $0, maxBytes: profile.maxReasonCharacters * 4, maxCharacters: profile.maxReasonCharacters,
                profile: profile)
        }
        self.reason = cleaned == "" ? nil : cleaned
    }

    /// What stands in front of the reason when there is no logo: the null URI of RFC 9796.
    static let nullIcon: StaticString = "<data:>;purpose=jcard"
    /// What follows the logo.
    static let iconPurpose: StaticString = ">;purpose=icon"

    /// Adds `<logo>;purpose=icon` to `out`, nothing without a logo.
    func appendIcon(to out: inout [UInt8]) {
        guard let logoURL else { return }
        out.append(UInt8(ascii: "<"))
        out.append(contentsOf: logoURL.utf8)
        out.append(Self.iconPurpose)
    }

    /// Adds `;call-reason="…"` to `out`, nothing without a reason.
    func appendReason(to out: inout [UInt8]) {
        guard let reason else { return }
        out.append(contentsOf: ";call-reason=".utf8)
        QuotedString.append(reason, to: &out)
    }
}
