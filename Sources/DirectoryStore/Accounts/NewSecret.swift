// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Generates keys, tokens and signing secrets.
enum NewSecret {
    /// Returns `count` random bytes as hexadecimal text, after a prefix that names the kind of secret.
    static func text(_ prefix: String, bytes count: Int = 32) -> String {
        var generator = SystemRandomNumberGenerator()
        return prefix + Hexadecimal.text((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
