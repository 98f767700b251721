// SPDX-License-Identifier: Apache-2.0

/// Writes texts as scalars of YAML, for block and flow style.
enum YAMLScalar {
    /// Words that readers of YAML 1.1 take for something else: `NO` is also the code of Norway.
    private static let words: Set<String> = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]

    /// The text as it is where every reader takes it for itself, else between single quotes.
    static func text(_ text: String) -> String {
        // Of texts with a colon, only an address or a name with a port is plain: 192.0.2.10:5060.
        let host = text.firstMatch(of: /:[0-9]+$/).map { text[..<$0.range.lowerBound] } ?? text[...]
        let isPlain =
            !host.isEmpty && !words.contains(text.lowercased()) && host.first != "-"
            && host.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || "./-_".utf8.contains($0)
            }
        return isPlain ? text : "'\(text.replacing("'", with: "''"))'"
    }

    /// A list in flow style.
    static func list(_ texts: [String]) -> String { "[\(texts.map { Self.text($0) }.joined(separator: ", "))]" }
}
