// SPDX-License-Identifier: Apache-2.0

/// Log level and format, for both programs.
package struct LogSettings: Hashable, Sendable {
    package enum Level: String, ConfigurationWord, Sendable { case trace, debug, info, notice, warning, error }
    package enum Format: String, ConfigurationWord, Sendable { case text, json }
    /// The treatment of telephone numbers in log lines.
    package enum Numbers: String, ConfigurationWord, Sendable { case masked, full, none }

    package var level = Level.info
    package var format = Format.text
    /// True logs one line per finished call.
    package var hasCalls = true
    package var numbers = Numbers.masked

    package init() {}
}
