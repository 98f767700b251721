// SPDX-License-Identifier: Apache-2.0

/// A secret from a file or the environment.
///
/// Prints as `<redacted>`.
package struct ConfiguredSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String
    /// The secret's file if every user of the machine can read it.
    let openFile: String?

    init(_ text: String, openFile: String? = nil) {
        self.text = text
        self.openFile = openFile
    }

    /// Returns the secret.
    ///
    /// Called only where the secret is used.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
