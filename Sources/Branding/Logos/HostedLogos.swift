// SPDX-License-Identifier: Apache-2.0

/// The logos that the gateway serves, and the Call-Info URL for each logo.
///
/// Part of the rendering profile: another set of logos requires another index and invalidates a saved one.
public struct HostedLogos: Hashable, Sendable {
    /// The treatment of a logo without a local copy.
    public enum Missing: String, Hashable, Sendable, CaseIterable {
        /// Writes the directory's URL into Call-Info.
        case original
        /// Omits the icon.
        case none
    }

    private let base: String
    /// `<` and the part of each URL before the file name, as bytes of Call-Info.
    let opening: [UInt8]
    private let missing: Missing
    /// File names, keyed by the directory's logo URL.
    private let files: [String: String]
    /// File names, keyed by the hash of the picture as it was fetched.
    private let pictures: [Substring: String]
    /// A hash of the set, equal in every process.
    let fingerprint: UInt64

    /// - Parameters:
    ///   - publicURL: the gateway's `http` or `https` URL for phones, valid between angle brackets.
    ///   - files: file names such as `HASH-128x128.png`, keyed by the directory's logo URL.
    public init(publicURL: String, missing: Missing, files: [String: String]) {
        base = (publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL) + "/logos/"
        opening = Array("<\(base)".utf8)
        self.missing = missing
        self.files = files
        pictures = Dictionary(files.values.map { ($0.prefix(Self.hashLength), $0) }, uniquingKeysWith: min)
        // The sum is independent of the dictionary's order, which differs in every process.
        fingerprint = files.reduce(stableHash("\(base) \(missing) \(files.count)")) { sum, entry in
            sum &+ stableHash("\(entry.key) \(entry.value)")
        }
    }

    /// Characters of the hash that begins every file name.
    static let hashLength = 32

    /// The number of logos with a local copy.
    public var count: Int { files.count }

    /// Whether Call-Info may have URLs of other hosts.
    var allowsOriginals: Bool { missing == .original }

    /// The file of a picture, by the digest of the bytes that were fetched; nil if they were not.
    ///
    /// - Parameter hash: the SHA-256 digest in hexadecimal digits. File names have its first half.
    func file(ofPicture hash: String) -> String? { pictures[hash.prefix(Self.hashLength)] }

    /// The address of a file.
    func address(ofFile name: String) -> String { base + name }

    /// Returns the URL for Call-Info; nil for no icon.
    ///
    /// - Parameter allowInsecure: accepts an original URL with `http`.
    func address(for original: String, allowInsecure: Bool) -> String? {
        if let name = files[original] { return base + name }
        return missing == .original && LogoURL.isSafe(original, allowInsecure: allowInsecure) ? original : nil
    }
}
