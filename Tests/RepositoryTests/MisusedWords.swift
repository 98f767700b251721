// SPDX-License-Identifier: Apache-2.0

/// Words that pages do not use, since the field has another word for the thing.
enum MisusedWords {
    /// The words, and the words to use instead.
    private static let words: [(misused: String, better: String)] = [
        ("answer answers answering unanswered", "response, respond; answered is a 2xx to an INVITE"),
        ("tell tells told telling say says said saying", "report, log, send, show"),
        ("hear hears heard", "receive"),
        ("stand stands stood", "be, lie, appear"),
        ("meet meets met", "handle, reach"),
        ("room rooms", "buffer, capacity, space"),
        ("note notes noted noting", "mark, cookie, record"),
        ("dress dresses dressed undressed", "decorate"),
        ("glance glances", "pre-parse"),
        ("house houses", "layout"),
        ("stranger strangers", "unknown peer"),
    ]
    private static let phrases = [
        ("in turns", "in rounds"), ("its turn", "next"), ("their turn", "next"), ("turns of", "rounds of"),
        ("whose word", "precedence"),
    ]
    private static let better = Dictionary(
        uniqueKeysWithValues: words.flatMap { group in
            group.misused.split(separator: " ").map { ($0, group.better) }
        })

    /// Beginnings of a statement that has a pronoun in place of a noun.
    private static let pronouns = ["What ", "Who ", "Whoever ", "Whatever ", "Which ", "That which "]

    /// The misused words of a page outside of code, each with its line number and a better word.
    static func find(in lines: [Substring]) -> [String] {
        var isCode = false
        var found: [String] = []
        for (number, line) in lines.enumerated() {
            if line.trimmed.hasPrefix("```") { isCode.toggle() }
            if isCode || line.hasPrefix("    ") { continue }
            let text = line.withoutCode.lowercased()
            for word in text.split(whereSeparator: { !$0.isLetter }) {
                if let better = better[word] { found.append("\(number + 1): \(word): \(better)") }
            }
            for (phrase, better) in phrases where text.contains(phrase) {
                found.append("\(number + 1): \(phrase): \(better)")
            }
        }
        for sentence in Prose(page: lines).sentences
        where sentence.text.hasAnyPrefix(pronouns) && !sentence.text.hasSuffix("?") {
            found.append("a noun is missing at the beginning of: \(sentence.text)")
        }
        return found
    }
}
