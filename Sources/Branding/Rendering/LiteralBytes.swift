// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends the bytes of a literal without creating a `String`.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }
}
