// SPDX-License-Identifier: Apache-2.0

/// A secret read from a file or the environment; it prints as `<redacted>` wherever it might be printed.
package struct ConfiguredSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String
    /// The file it came from, where everyone on the machine may read that.
    let openFile: String?

    init(_ text: String, openFile: String? = nil) {
        self.text = text
        self.openFile = openFile
    }

    /// The secret itself, for the one place that needs it.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
