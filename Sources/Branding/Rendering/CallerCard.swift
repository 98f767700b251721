// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The name, the logo and the reason of one call, of a directory's brand and of signed values (RFC 9796).
///
/// `verified` is written only at a value that a signature bears out. RFC 9796 §7 makes a value without URI, and with
/// `verified`, a statement about the display name too. So such a value needs a verified name and, if it has a reason, a
/// verified reason. A logo with a reason needs both verified.
public final class CallerCard: Sendable {
    /// The rules by which values of directory and signature are chosen.
    public struct Rules: Hashable, Sendable {
        /// Whether the name is that of the signature; false for the directory's, or none.
        public var takesSignedName: Bool
        /// Whether logo and reason of the directory's brand may be written.
        public var takesDirectory: Bool
        /// Whether reason and picture of the signature may be written.
        public var takesSigned: Bool
        /// Whether signed values go before those of the directory.
        public var prefersSigned: Bool

        public init(takesSignedName: Bool, takesDirectory: Bool, takesSigned: Bool, prefersSigned: Bool) {
            (self.takesSignedName, self.takesDirectory) = (takesSignedName, takesDirectory)
            (self.takesSigned, self.prefersSigned) = (takesSigned, prefersSigned)
        }
    }

    /// The display name as a phone shows it; empty for a card without a name.
    public let name: String
    /// Whether the picture of the token was compared with a stored one and is written.
    public let hasVerifiedLogo: Bool
    /// Whether the name is the signed one, character by character.
    public let isNameVerified: Bool
    /// Whether the name is the one that the index has of the brand.
    public let isOfIndex: Bool
    private let quotedName: [UInt8]
    /// `<URL>;purpose=icon`; empty for none.
    private let logo: [UInt8]
    private let integrity: String
    /// `;call-reason="…"`; empty for none.
    private let reason: [UInt8]
    private let isReasonVerified: Bool

    /// Makes the card of a call.
    ///
    /// - Parameters:
    ///   - entry: the brand of the directory; nil for none.
    ///   - form: the key of the form of logos for the phones; nil for the usual form.
    /// - Returns: nil if nothing differs from what the index has of the brand, or nothing can be shown.
    public init?(
        _ entry: BrandEntry?, in index: BrandIndex, _ signed: SignedValues, _ rules: Rules, logo form: [UInt8]?
    ) {
        let profile = index.profile
        let brandName = entry.map { index.text(.name, $0) }
        let signedName = signed.name.flatMap { DisplayName($0, profile: profile)?.text }
        let name = (rules.takesSignedName ? signedName : brandName) ?? ""
        let isNameVerified = !name.isEmpty && name == signed.name

        let signedReason = Self.reason(of: signed.reason, profile)
        let brandReason = entry.map { Self.bytes(.reason, of: $0, in: index, nil) } ?? []
        let reason = Self.chosen(signedReason.bytes, brandReason, rules)
        let isReasonVerified = signedReason.isExact && !reason.isEmpty && reason == signedReason.bytes

        let picture = signed.icon.flatMap { Self.picture($0, profile, form) }
        let brandLogo = entry.map { Self.bytes(.logo, of: $0, in: index, form) } ?? []
        let logo = Self.chosen(picture?.bytes ?? [], brandLogo, rules)
        let hasVerifiedLogo = picture.map { $0.isOriginal && $0.bytes == logo } ?? false

        let hasMark = isNameVerified || isReasonVerified || hasVerifiedLogo
        let isPlain =
            entry != nil && !rules.takesSignedName && !hasMark && reason == brandReason && logo == brandLogo
        if isPlain || name.isEmpty && reason.isEmpty && logo.isEmpty { return nil }

        self.name = name
        isOfIndex = name == brandName
        quotedName = name.isEmpty ? [] : Array(QuotedString.text(of: name).utf8)
        self.isNameVerified = isNameVerified
        (self.reason, self.isReasonVerified) = (reason, isReasonVerified)
        (self.logo, self.hasVerifiedLogo) = (logo, hasVerifiedLogo)
        integrity = hasVerifiedLogo ? signed.icon?.digest ?? "" : ""
    }

    /// Whether the card has a name.
    public var hasName: Bool { !name.isEmpty }
    /// Whether the card has a reason.
    public var hasReason: Bool { !reason.isEmpty }
    /// Whether the card has a logo.
    public var hasLogo: Bool { !logo.isEmpty }

    /// Appends the name as a quoted-string.
    public func appendName(to out: inout [UInt8]) { out.append(contentsOf: quotedName) }

    /// Whether there is a Call-Info value.
    ///
    /// - Parameter isNamed: whether each field that shows the caller's name has the name of the card.
    public func hasCallInfo(withLogo: Bool, isNamed: Bool) -> Bool {
        withLogo && hasLogo || hasReason || isNamed && isNameVerified
    }

    /// Appends the Call-Info value.
    ///
    /// - Parameter isNamed: whether each field that shows the caller's name has the name of the card.
    public func appendCallInfo(withLogo: Bool, isNamed: Bool, to out: inout [UInt8]) {
        let showsLogo = withLogo && hasLogo
        if showsLogo { out.append(contentsOf: logo) } else { out.append(CallInfo.nullIcon) }
        out.append(contentsOf: reason)
        let isHeadVerified = showsLogo ? hasVerifiedLogo : isNamed && isNameVerified
        guard isHeadVerified, reason.isEmpty || isReasonVerified else { return }
        out.append(";verified=\"true\"")
        // RFC 9796 §8: no integrity without verified.
        if showsLogo {
            out.append(";integrity=")
            QuotedString.append(integrity, to: &out)
        }
    }

    /// The value by the rules; empty for none.
    private static func chosen(_ signed: [UInt8], _ directory: [UInt8], _ rules: Rules) -> [UInt8] {
        let signed = rules.takesSigned ? signed : []
        let directory = rules.takesDirectory ? directory : []
        let (first, second) = rules.prefersSigned ? (signed, directory) : (directory, signed)
        return first.isEmpty ? second : first
    }

    /// The parameter of a signed reason, and whether cleaning left the text as it is.
    private static func reason(
        of text: String?, _ profile: RenderingProfile
    ) -> (bytes: [UInt8], isExact: Bool) {
        let info = CallInfo(logoURL: nil, reason: text, profile: profile)
        var bytes: [UInt8] = []
        info.appendReason(to: &bytes)
        return (bytes, text != nil && info.reason == text)
    }

    private static func bytes(
        _ part: BrandPart, of entry: BrandEntry, in index: BrandIndex, _ form: [UInt8]?
    ) -> [UInt8] {
        var out: [UInt8] = []
        index.append(part, of: entry, logo: form, to: &out)
        return out
    }

    /// The value of a signed picture whose bytes were fetched: at its own address, or the gateway's copy where Call-Info may
    /// have the gateway's addresses alone.
    private static func picture(
        _ icon: SignedValues.Icon, _ profile: RenderingProfile, _ form: [UInt8]?
    ) -> (bytes: [UInt8], isOriginal: Bool)? {
        guard let logos = profile.logos, let file = logos.file(ofPicture: icon.hash) else { return nil }
        let isOriginal = logos.allowsOriginals
        if isOriginal, !LogoURL.isSafe(icon.address, allowInsecure: false) { return nil }
        let name = form.map { file.prefix(HostedLogos.hashLength + 1) + String(decoding: $0, as: UTF8.self) } ?? file
        var bytes: [UInt8] = [UInt8(ascii: "<")]
        bytes.append(contentsOf: (isOriginal ? icon.address : logos.address(ofFile: name)).utf8)
        bytes.append(CallInfo.iconPurpose)
        return (bytes, isOriginal)
    }
}
