// SPDX-License-Identifier: Apache-2.0

/// The apps that open `https` links of a directory, for Apple's and Google's files of associated apps.
package struct AppLinks: Hashable, Sendable {
    /// An Android app and the certificates of its signature.
    package struct AndroidApp: Hashable, Sendable {
        package var package: String
        /// SHA-256 fingerprints, 32 bytes in upper-case hexadecimal with colons.
        package var fingerprints: [String]

        package init(package: String, fingerprints: [String]) {
            self.package = package
            self.fingerprints = fingerprints
        }
    }

    /// Application identifiers: the prefix, a dot and the bundle identifier.
    package var iosApps: [String] = []
    package var androidApps: [AndroidApp] = []

    package init() {}
}

/// Reads `links` of `herald-directory.yaml`.
enum LinksSchema {
    static func read(_ section: ConfigurationSection) -> AppLinks {
        var links = AppLinks()
        links.iosApps = section.list("ios_apps") { text throws(AddressProblem) in
            guard isApplication(text) else {
                throw .unfit(
                    "must be a prefix of 10 letters and digits, a dot and a bundle identifier, "
                        + "such as ABCDE12345.com.example.phone")
            }
            return text
        }
        let apps = section.sections("android_apps") { _, app in androidApp(app) }
        links.androidApps = apps ?? []
        return links
    }

    private static func androidApp(_ section: ConfigurationSection) -> AppLinks.AndroidApp? {
        let package = section.string("package", form: "an application identifier such as com.example.phone", isPackage)
        let fingerprints = section.list("sha256") { text throws(AddressProblem) in
            guard let fingerprint = fingerprint(text) else {
                throw .unfit("must be a SHA-256 fingerprint: 32 bytes in hexadecimal, as keytool -list -v prints it")
            }
            return fingerprint
        }
        if !section.has("package") { section.problem("package", "is missing; write it such as com.example.phone") }
        if !section.has("sha256") {
            section.problem("sha256", "is missing; it has the fingerprints of the certificates that sign the app")
        }
        guard let package, !fingerprints.isEmpty else { return nil }
        return AppLinks.AndroidApp(package: package, fingerprints: fingerprints)
    }

    static let schemeForm =
        "2 to 32 small letters, digits, dots, dashes and plus signs, beginning with a letter, and no scheme of browsers"

    /// True for a scheme of RFC 3986 §3.1 in lower case that browsers and phones do not open themselves.
    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, (97...122).contains(first), (2...32).contains(text.utf8.count) else {
            return false
        }
        return !foreignSchemes.contains(text)
            && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || "+-.".utf8.contains($0) }
    }

    private static let foreignSchemes: Set = [
        "about", "blob", "data", "file", "ftp", "http", "https", "intent", "javascript", "mailto", "sip", "sips", "sms",
        "tel", "ws", "wss",
    ]

    /// True for an application identifier of Apple.
    private static func isApplication(_ text: String) -> Bool {
        guard let dot = text.firstIndex(of: "."), text.utf8.count <= 200 else { return false }
        let prefix = text[..<dot].utf8
        return prefix.count == 10 && prefix.allSatisfy { isUpperOrDigit($0) }
            && isDotted(text[text.index(after: dot)...], allowing: "-")
    }

    /// True for an application identifier of Android.
    private static func isPackage(_ text: String) -> Bool {
        text.utf8.count <= 200 && text.contains(".") && isDotted(text[...], allowing: "_")
    }

    /// True for parts of letters, digits and one other character, with dots between them.
    private static func isDotted(_ text: Substring, allowing other: Character) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == other) }
        }
    }

    /// A fingerprint in the notation of `assetlinks.json`; nil for another text.
    private static func fingerprint(_ text: String) -> String? {
        let parts = text.uppercased().split(separator: ":", omittingEmptySubsequences: false)
        let isOne = parts.count == 32 && parts.allSatisfy { $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }
        return isOne && text.allSatisfy(\.isASCII) ? parts.joined(separator: ":") : nil
    }

    private static func isUpperOrDigit(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (48...57).contains(byte) }
}
