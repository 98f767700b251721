// SPDX-License-Identifier: Apache-2.0

/// Words that pages do not use, since the field has another word for the thing.
enum MisusedWords {
    /// Each pattern with the words to use instead.
    private static var patterns: [(Regex<Substring>, String)] {
        [
            (/\b(?:answers?|answering|unanswered)\b/, "response, respond; answered is a 2xx to an INVITE"),
            (/\b(?:tells?|told|telling)\b/, "report, log, send, show"),
            (/\b(?:hears?|heard)\b/, "receive"),
            (/\b(?:stands?|stood)\b/, "be, lie, appear"),
            (/\b(?:meets?|met)\b/, "handle, reach"),
            (/\brooms?\b/, "buffer, capacity, space"),
            (/\b(?:notes?|noted|noting)\b/, "mark, cookie, record"),
            (/\b(?:dress|dressed|dresses|undressed)\b/, "decorate"),
            (/\b(?:glance|glances)\b/, "pre-parse"),
            (/\bhouses?\b/, "layout"),
            (/\bstrangers?\b/, "unknown peer"),
            (/\b(?:in turns|its turn|their turn|turns of)\b/, "round"),
            (/\b(?:whose word)\b/, "precedence"),
        ]
    }

    /// A statement that begins with a pronoun instead of a noun.
    private static var subject: Regex<Substring> { /^(?:What|Who|Whoever|Whatever|Which|That which)\b.*[^?]$/ }

    /// The misused words of a page outside of code, each with its line number and a better word.
    static func find(in lines: [Substring]) -> [String] {
        var isCode = false
        var found: [String] = []
        let patterns = Self.patterns
        for (number, line) in lines.enumerated() {
            if line.trimmed.hasPrefix("```") { isCode.toggle() }
            if isCode || line.hasPrefix("    ") { continue }
            let text = line.withoutCode.lowercased()
            for (pattern, better) in patterns {
                guard let match = text.firstMatch(of: pattern) else { continue }
                found.append("\(number + 1): \(match.output): \(better)")
            }
        }
        for sentence in Prose(page: lines).sentences where sentence.text.wholeMatch(of: subject) != nil {
            found.append("a noun is missing at the beginning of: \(sentence.text)")
        }
        return found
    }
}
