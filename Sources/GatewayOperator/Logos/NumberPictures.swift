// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// Finds the logo of a telephone number, for phones that fetch `NUMBER.png` from a server (Mitel, `image server uri`).
///
/// A number has a picture only if its calls get a brand and the gateway serves the logo. Memory only.
struct NumberPictures: Sendable {
    private let current: CurrentBranding
    private let isEnabled: @Sendable () -> Bool
    private let normalisers: [NumberNormaliser]
    private let forms: [LogoForm]
    private let families: [PhoneFamily]

    /// - Parameters:
    ///   - isEnabled: false while the operator's settings stop branding.
    ///   - regions: countries of national numbers, in the order in which they are tried.
    ///   - forms: the forms of hosted logos; empty if logos are served unchanged.
    ///   - families: the families of phones whose forms are made.
    init(
        _ current: CurrentBranding, isEnabled: @escaping @Sendable () -> Bool, regions: [Region], forms: [LogoForm],
        families: [PhoneFamily]
    ) {
        self.current = current
        self.isEnabled = isEnabled
        normalisers = regions.isEmpty ? [NumberNormaliser(region: nil)] : regions.map { NumberNormaliser(region: $0) }
        self.forms = forms
        self.families = families
    }

    /// Returns the file for `NUMBER.ext` or `FAMILY/NUMBER.ext`; nil for no picture.
    ///
    /// The number is written as for a call: with `+` or `%2B`, national, or international without a plus sign.
    func file(for path: Substring) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let request = PictureName(parts[parts.count - 1]) else { return nil }
        let family = parts.count == 2 ? families.first { $0.rawValue == parts[0] } : nil
        guard parts.count == 1 || family != nil else { return nil }
        let snapshot = current.load()
        guard isEnabled(), snapshot.gates.closed == nil else { return nil }
        let entry = normalisers.lazy.compactMap { $0.normalise(request.number) }
            .compactMap { snapshot.index.entry(for: $0) }.first
        return entry.flatMap { file(of: $0, in: snapshot.index, family, request.fileExtension) }
    }

    private func file(
        of entry: BrandEntry, in index: BrandIndex, _ family: PhoneFamily?, _ fileExtension: String
    ) -> String? {
        guard !forms.isEmpty else {
            return index.logoFile(of: entry).flatMap { $0.hasSuffix(".\(fileExtension)") ? $0 : nil }
        }
        let form = family?.form ?? forms.first { $0.encoding.fileExtension == fileExtension }
        guard let form, form.encoding.fileExtension == fileExtension else { return nil }
        return index.logoFile(of: entry, form: form.key)
    }
}

/// A number and the extension of a requested file.
private struct PictureName {
    let number: [UInt8]
    let fileExtension: String

    /// Nil for other names, and for numbers that no caller has.
    init?(_ name: Substring) {
        guard name.utf8.count <= NumberNormaliser.maxLength * 3, let dot = name.lastIndex(of: ".") else { return nil }
        switch name[name.index(after: dot)...].lowercased() {
        case "png": fileExtension = "png"
        case "jpg", "jpeg": fileExtension = "jpg"
        case "bmp": fileExtension = "bmp"
        default: return nil
        }
        guard let number = Self.unescaped(name[..<dot]), (1...NumberNormaliser.maxLength).contains(number.count) else {
            return nil
        }
        self.number = number
    }

    /// Resolves `%2B` and its like (RFC 3986 §2.1).
    private static func unescaped(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
