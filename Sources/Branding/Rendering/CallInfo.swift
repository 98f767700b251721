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

/// Which logo addresses may be put into a header.
enum LogoURL {
    /// True for an `https` URL of at most 2048 visible ASCII characters that cannot end the angle brackets around it.
    ///
    /// Characters that RFC 3986 §2 does not know are refused, `{` and `}` among them, so `${` cannot pass; so is a
    /// user name or password. `http` passes if `allowInsecure`.
    static func isSafe(_ text: String, allowInsecure: Bool) -> Bool {
        let bytes = Array(text.utf8.prefix(2049))
        guard bytes.count <= 2048 else { return false }
        let isSecure = hasScheme("https://", bytes)
        guard isSecure || allowInsecure && hasScheme("http://", bytes) else { return false }
        let rest = bytes.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let first = authority.first, first != UInt8(ascii: ":"), !authority.contains(UInt8(ascii: "@")) else {
            return false
        }
        return rest.allSatisfy { (0x21...0x7E).contains($0) && !isOutsideGrammar($0) }
    }

    private static func hasScheme(_ scheme: String, _ bytes: [UInt8]) -> Bool {
        let head = bytes.prefix(scheme.utf8.count).map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return head.elementsEqual(scheme.utf8)
    }

    private static func isOutsideGrammar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }
}

extension [UInt8] {
    /// Adds the bytes of a literal, without making a `String` of it.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }
}
