// SPDX-License-Identifier: Apache-2.0

/// How much is logged, and in which shape; both programs have it.
package struct LogSettings: Hashable, Sendable {
    package enum Level: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error }
    package enum Format: String, CaseIterable, Sendable { case text, json }
    /// How much of a telephone number a line has.
    package enum Numbers: String, CaseIterable, Sendable { case masked, full, none }

    package var level = Level.info
    package var format = Format.text
    /// Whether each finished call has a line.
    package var hasCalls = true
    package var numbers = Numbers.masked

    package init() {}
}
