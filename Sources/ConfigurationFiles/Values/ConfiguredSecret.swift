// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A secret from a file or the environment. Prints as `<redacted>`.
package struct ConfiguredSecret: Hashable, Sendable, Redacted {
    private let text: String
    /// The secret's file if every user of the machine can read it.
    let openFile: String?
    /// Where the operator keeps it, such as `the file /etc/herald/api-key`; nil if unknown.
    package let source: String?

    init(_ text: String, openFile: String? = nil, source: String? = nil) {
        self.text = text
        self.openFile = openFile
        self.source = source
    }

    /// The same secret from another place is equal.
    package static func == (left: Self, right: Self) -> Bool {
        left.text == right.text && left.openFile == right.openFile
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(text)
        hasher.combine(openFile)
    }

    /// Returns the secret. Called only where the secret is used.
    package func reveal() -> String { text }
}
