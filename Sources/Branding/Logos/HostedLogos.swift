// SPDX-License-Identifier: Apache-2.0

/// The logos the gateway serves itself, and what stands in Call-Info for those it has not.
///
/// Part of the rendering profile: another set makes another index, and a saved index of another set is not used.
package struct HostedLogos: Hashable, Sendable {
    /// What becomes of a logo the gateway has no copy of.
    package enum Missing: String, Hashable, Sendable, CaseIterable {
        /// The directory's own URL stands in Call-Info.
        case original
        /// No icon at all.
        case none
    }

    private let base: String
    private let missing: Missing
    /// File names by the directory's URL.
    private let files: [String: String]
    /// A number that differs between sets, the same in every process.
    let fingerprint: UInt64

    /// - Parameters:
    ///   - publicURL: how phones reach the gateway, `http` or `https`, fit to stand in angle brackets.
    ///   - files: names such as `HASH-128x128.png` by the directory's URL of the logo.
    package init(publicURL: String, missing: Missing, files: [String: String]) {
        base = (publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL) + "/logos/"
        self.missing = missing
        self.files = files
        // A sum, because a dictionary has another order in every process.
        fingerprint = files.reduce(stableHash("\(base) \(missing) \(files.count)")) { sum, entry in
            sum &+ stableHash("\(entry.key) \(entry.value)")
        }
    }

    /// How many logos of the directory have a copy here.
    package var count: Int { files.count }

    /// The address for a header; nil for no icon.
    ///
    /// - Parameter allowInsecure: lets an original through that is `http`.
    func address(for original: String, allowInsecure: Bool) -> String? {
        if let name = files[original] { return base + name }
        return missing == .original && LogoURL.isSafe(original, allowInsecure: allowInsecure) ? original : nil
    }
}
