// SPDX-License-Identifier: Apache-2.0

/// The values that the signatures of one call bear out (RFC 9795). They are foreign text.
public struct SignedValues: Hashable, Sendable {
    /// A picture whose bytes have a digest in the token.
    public struct Icon: Hashable, Sendable {
        public let address: String
        /// The digest as the token has it, such as `sha256-…`.
        public let digest: String
        /// The SHA-256 digest in hexadecimal digits.
        public let hash: String

        public init(address: String, digest: String, hash: String) {
            (self.address, self.digest, self.hash) = (address, digest, hash)
        }
    }

    /// The verified name.
    public var name: String?
    /// Whether the tokens have a name, verified or not.
    public var hasName: Bool
    /// The verified reason of the call.
    public var reason: String?
    /// A picture that counts once its bytes are known.
    public var icon: Icon?

    public init(name: String? = nil, hasName: Bool? = nil, reason: String? = nil, icon: Icon? = nil) {
        (self.name, self.reason, self.icon) = (name, reason, icon)
        self.hasName = hasName ?? (name != nil)
    }

    /// Whether there is any value.
    public var isEmpty: Bool { name == nil && reason == nil && icon == nil }
}
