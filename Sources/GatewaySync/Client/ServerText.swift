// SPDX-License-Identifier: Apache-2.0

/// Makes text of the directory safe for log lines, errors and the operator's terminal.
enum ServerText {
    /// Longest text kept, in characters.
    static let limit = 200

    /// Escapes control and format characters and truncates at `limit` characters.
    static func clean(_ text: some StringProtocol) -> String {
        var out = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else { return out + "…" }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                out += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                out.unicodeScalars.append(scalar)
            }
            count += 1
        }
        return out
    }
}
