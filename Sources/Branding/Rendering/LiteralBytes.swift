// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Adds the bytes of a literal, without making a `String` of it.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }
}
