// SPDX-License-Identifier: Apache-2.0

/// Reads the reason of a call out of header lines.
enum CallReasonText {
    /// The call reason in a Call-Info line (RFC 9796 §5), without quotes and escapes.
    static func first(in headers: [String]) -> String? {
        guard let line = headers.first(where: { $0.hasPrefix("Call-Info:") }),
            let begin = line.firstRange(of: "call-reason=\"")
        else { return nil }
        var text = ""
        var isEscaped = false
        for character in line[begin.upperBound...] {
            if isEscaped {
                text.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                return text
            } else {
                text.append(character)
            }
        }
        return nil
    }
}
