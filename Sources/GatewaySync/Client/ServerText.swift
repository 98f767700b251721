// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Makes text of the directory safe for log lines, errors and the operator's terminal.
enum ServerText {
    /// Longest text kept, in characters.
    static let limit = 200

    /// Escapes invisible characters and truncates at `limit` characters.
    static func clean(_ text: some StringProtocol) -> String {
        var out = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else { return out + "…" }
            TerminalText.append(scalar, to: &out)
            count += 1
        }
        return out
    }
}
