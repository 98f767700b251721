// SPDX-License-Identifier: Apache-2.0

/// A secret read from a file or the environment; it prints as `<redacted>` wherever it might be printed.
package struct ConfiguredSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    init(_ text: String) { self.text = text }

    /// The secret itself, for the one place that needs it.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
