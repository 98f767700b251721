// SPDX-License-Identifier: Apache-2.0

/// A brand's name for networks that carry 15 characters of ASCII, such as the calling name (CNAM) of North America.
///
/// Accents are removed, and Greek and Cyrillic letters get Latin ones by ICU's rules. Signs without a form in ASCII are left out. A
/// name in another script has no such form: a part of it would be another name. Source: Oracle's manual, after draft-ietf-enum-cnam-08.
public struct CallingName: Hashable, Sendable {
    /// The most characters of a name.
    public static let longest = 15

    /// The form of `ä`, `ö` and `ü`.
    public enum Umlauts: String, Hashable, Sendable, CaseIterable {
        /// `a`, `o`, `u`.
        case plain
        /// `ae`, `oe`, `ue`.
        case german
    }

    /// One to `longest` printable ASCII characters without outer or repeated blanks.
    public let text: String

    /// Makes the form in ASCII and cuts it.
    ///
    /// Any thread. A name with other letters waits for a lock while another thread transliterates; some 15 µs. The first one opens
    /// the tables of ICU; see `prepare`.
    ///
    /// - Returns: nil if the name has letters or digits without a form in ASCII, or no letter and no digit at all.
    public init?(_ name: String, umlauts: Umlauts = .plain) {
        guard let form = Self.ascii(name, umlauts) else { return nil }
        let cut = Self.collapsed(form).prefix(Self.longest)
        let trimmed = cut.last == 0x20 ? cut.dropLast() : cut
        guard trimmed.contains(where: Self.isAlphanumeric) else { return nil }
        text = String(decoding: trimmed, as: UTF8.self)
    }

    /// Opens the tables of ICU, about 50 ms, so that the first name need not.
    public static func prepare(_ umlauts: Umlauts) { _ = CallingName("ä", umlauts: umlauts) }

    /// The printable characters of the form in ASCII, with white space as blanks; nil if a letter or digit has none.
    private static func ascii(_ name: String, _ umlauts: Umlauts) -> [UInt8]? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.utf8.compactMap(printable) }
        guard let form = transliteration(umlauts).applied(to: name) else { return nil }
        var out: [UInt8] = []
        for scalar in form.unicodeScalars {
            if scalar.isASCII {
                if let byte = printable(UInt8(scalar.value)) { out.append(byte) }
            } else if scalar.properties.generalCategory == .spaceSeparator {
                out.append(0x20)
            } else if isMeaningful(scalar) {
                return nil
            }
        }
        return out
    }

    /// A letter or digit whose loss would make another name.
    private static func isMeaningful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .decimalNumber, .letterNumber, .otherNumber: true
        default: false
        }
    }

    private static func printable(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x20...0x7E: byte
        case 0x09...0x0D: 0x20
        default: nil
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    /// Without a leading blank and with single inner ones.
    private static func collapsed(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        for byte in bytes where byte != 0x20 || out.last.map({ $0 != 0x20 }) ?? false { out.append(byte) }
        return out
    }

    /// The rules of ICU by umlauts.
    private static func transliteration(_ umlauts: Umlauts) -> Transliteration {
        switch umlauts {
        case .plain: plain
        case .german: german
        }
    }

    private static let plain = Transliteration("Greek-Latin; Cyrillic-Latin; Latin-ASCII")
    private static let german = Transliteration("NFC; de-ASCII; Greek-Latin; Cyrillic-Latin; Latin-ASCII")
}
