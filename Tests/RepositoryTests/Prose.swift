// SPDX-License-Identifier: Apache-2.0

/// The sentences of Markdown pages and of comments in Swift files, with the number of words of each.
struct Prose {
    struct Sentence {
        var text: String
        var words: Int
    }

    private(set) var sentences: [Sentence] = []

    var mean: Double { Double(sentences.reduce(0) { $0 + $1.words }) / Double(max(sentences.count, 1)) }

    /// The number of words that a share of the sentences does not exceed, 0.9 for nine of ten.
    func words(ofShare share: Double) -> Int {
        let counts = sentences.map(\.words).sorted()
        return counts.isEmpty ? 0 : counts[min(Int(Double(counts.count) * share), counts.count - 1)]
    }

    /// The share of sentences with more words than a limit, in percent.
    func percent(above limit: Int) -> Double {
        100 * Double(sentences.filter { $0.words > limit }.count) / Double(max(sentences.count, 1))
    }

    /// The longest sentences, for the message of a failed test.
    var longest: String {
        sentences.sorted { $0.words > $1.words }.prefix(5).map { "\($0.words): \($0.text)" }.joined(separator: "\n")
    }

    static func + (one: Prose, other: Prose) -> Prose {
        var sum = one
        sum.sentences += other.sentences
        return sum
    }

    // MARK: Reading

    /// The prose of a page: paragraphs and list items, without headings, tables and code.
    init(page lines: [Substring]) {
        var isCode = false
        var paragraph: [String] = []
        for line in lines {
            let text = line.trimmed
            if text.hasPrefix("```") { isCode.toggle() }
            let isText = !isCode && !text.isEmpty && !text.hasPrefix("```") && !text.hasAnyPrefix(["#", "|", "<"])
            if !isText || (paragraph.isEmpty && line.hasPrefix("    ")) {
                end(&paragraph)
            } else if let item = text.listItem {
                end(&paragraph)
                paragraph = [item]
            } else {
                paragraph.append(text)
            }
        }
        end(&paragraph)
    }

    /// The prose of the comments that have lines of their own in a Swift file.
    init(comments lines: [Substring]) { self.init(page: Self.comments(of: lines)) }

    /// The lines of a Swift file with the text of their comments; empty for lines of code.
    static func comments(of lines: [Substring]) -> [Substring] {
        lines.map { line in
            let text = line.trimmed
            guard text.hasPrefix("//"), !text.hasAnyPrefix(["// SPDX", "// MARK", "// swift-"]) else { return "" }
            return Substring(String(text.drop { $0 == "/" }).trimmed)
        }
    }

    private mutating func end(_ paragraph: inout [String]) {
        defer { paragraph = [] }
        var words: [Substring] = []
        let all = paragraph.joined(separator: " ").withoutCode.withoutLinks.split(separator: " ")
        for (position, word) in all.enumerated() {
            words.append(word)
            let next = position + 1 < all.count ? all[position + 1] : nil
            if let next, !(word.endsSentence && next.beginsSentence) { continue }
            if words.contains(where: { $0.utf8.contains { ($0 | 0x20) >= 0x61 || (0x30...0x39).contains($0) } }) {
                sentences.append(Sentence(text: words.joined(separator: " "), words: words.count))
            }
            words = []
        }
    }
}

extension StringProtocol {
    /// The text without blanks at its ends.
    var trimmed: String {
        var bytes = Substring(self).utf8
        while bytes.first == 0x20 { bytes.removeFirst() }
        while bytes.last == 0x20 { bytes.removeLast() }
        return String(Substring(bytes))
    }

    func hasAnyPrefix(_ prefixes: [String]) -> Bool { prefixes.contains { hasPrefix($0) } }

    /// The text with an X for each part in backticks.
    var withoutCode: String {
        guard utf8.contains(0x60) else { return String(self) }
        let parts = split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0.offset.isMultiple(of: 2) ? String($0.element) : "X" }.joined()
    }

    /// The text of a list item without its mark, nil for other lines.
    fileprivate var listItem: String? {
        guard let space = firstIndex(of: " ") else { return nil }
        let mark = self[..<space]
        let isMark =
            ["-", "*", ">"].contains(String(mark)) || (mark.last == "." && mark.dropLast().allSatisfy(\.isNumber))
        return isMark ? self[space...].trimmed : nil
    }

    /// The text with the titles of links in place of the links.
    fileprivate var withoutLinks: String {
        contains("](") ? String(self).replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 } : String(self)
    }

    fileprivate var endsSentence: Bool {
        let closers: Set<Character> = [")", "\"", "*", "”"]
        guard let last = reversed().first(where: { !closers.contains($0) }) else { return false }
        return [".", "!", "?", ":", ";"].contains(last)
    }

    fileprivate var beginsSentence: Bool {
        guard let first else { return false }
        return first.isUppercase || ["\"", "(", "*", "“"].contains(first)
    }
}
