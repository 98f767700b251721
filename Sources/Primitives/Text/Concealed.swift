// SPDX-License-Identifier: Apache-2.0

/// A type whose values no text shows.
///
/// Interpolations, descriptions, reflection and `dump` of a value print `<redacted>`. Every type that stores a secret
/// conforms, or stores it as `Concealed`: loggers and service groups print whole objects.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A secret, such as a password, a key or a token, that prints as `<redacted>`.
public struct Concealed<Value: Sendable>: Redacted, Sendable {
    private let value: Value

    public init(_ value: Value) { self.value = value }

    /// Returns the secret; called only where the secret is used.
    public func reveal() -> Value { value }
}

extension Concealed: Equatable where Value: Equatable {}
extension Concealed: Hashable where Value: Hashable {}
