// SPDX-License-Identifier: Apache-2.0

import Testing

/// Pages and comments have short sentences and the words of the field.
@Suite("Prose")
struct ProseTests {
    private static var pages: [String] { Repository.paths(under: "", endingWith: [".md"]) }

    private func expect(_ prose: Prose, mean: Double, most: Int, above35: Double, _ name: String) {
        #expect(prose.mean <= mean, "\(name): \(prose.mean) words a sentence\n\(prose.longest)")
        let ninety = prose.words(ofShare: 0.9)
        #expect(ninety <= most, "\(name): one sentence in ten has \(ninety) words\n\(prose.longest)")
        let long = prose.percent(above: 35)
        #expect(long <= above35, "\(name): \(long) % of the sentences have more than 35 words\n\(prose.longest)")
    }

    @Test func `the pages have short sentences`() throws {
        let prose = try Self.pages.map { Prose(page: try Repository.lines($0)) }.reduce(Prose(page: []), +)
        #expect(prose.sentences.count > 500)
        expect(prose, mean: 15, most: 26, above35: 1.5, "all pages")
    }

    @Test func `the comments have short sentences`() throws {
        let prose = try Repository.paths(under: "Sources", endingWith: [".swift"])
            .map { Prose(comments: try Repository.lines($0)) }.reduce(Prose(page: []), +)
        #expect(prose.sentences.count > 3000)
        expect(prose, mean: 15, most: 26, above35: 1.5, "comments")
    }

    @Test func `no page has long sentences`() throws {
        for page in Self.pages {
            expect(Prose(page: try Repository.lines(page)), mean: 18, most: 30, above35: 5, page)
        }
    }

    @Test func `pages use the words of the field`() throws {
        for page in Self.pages {
            let found = MisusedWords.find(in: try Repository.lines(page))
            #expect(found.isEmpty, "\(page)\n\(found.joined(separator: "\n"))")
        }
    }

    @Test func `comments use the words of the field`() throws {
        for path in Repository.paths(under: "Sources", endingWith: [".swift"]) {
            let found = MisusedWords.find(in: Prose.comments(of: try Repository.lines(path)))
            #expect(found.isEmpty, "\(path)\n\(found.joined(separator: "\n"))")
        }
    }

    // MARK: The measure itself

    private static let sample = """
        # A heading has no sentence and is not counted

        A page has five words here. The gateway sends `one two three` to [the
        directory](a.md), and that is it! Does RFC 3261 §8.1.1.7 end a sentence? It does not.

        | a table | is left out. It has two sentences. |

            an indented example is left out

        - An item is a paragraph
        - Another one: with a colon inside

        ```sh
        code is left out
        ```
        """

    @Test func `sentences are counted as a reader counts them`() {
        let prose = Prose(page: Self.sample.split(separator: "\n", omittingEmptySubsequences: false))
        #expect(prose.sentences.map(\.words) == [6, 11, 7, 3, 5, 6])
        #expect(prose.mean == 38.0 / 6)
        #expect(prose.words(ofShare: 0.5) == 6)
        #expect(prose.percent(above: 7) == 100.0 / 6)
    }

    @Test func `comments are counted without code beside them`() {
        let source = """
            // SPDX-License-Identifier: Apache-2.0

            /// Maps numbers to brands. Thread-safe.
            struct Index {  // a remark behind code is left out
                // One line and
                // one more.
                let x = 1
            }
            """
        let prose = Prose(comments: source.split(separator: "\n", omittingEmptySubsequences: false))
        #expect(prose.sentences.map(\.words) == [4, 1, 5])
    }

    @Test func `misused words are found, and words of the field are not`() {
        let bad = """
            The gateway tells the directory. It is answered at once.
            | `answer` | the answer of a phone |
            What comes is read. What is read?
            """
        let found = MisusedWords.find(in: bad.split(separator: "\n"))
        #expect(found.count == 3)
        #expect(found.contains { $0.hasPrefix("1: tells") })
        #expect(found.contains { $0.hasPrefix("2: answer") })
        #expect(found.contains { $0.hasSuffix("What comes is read.") })
        #expect(MisusedWords.find(in: ["The key `strangers` stays. The call is answered."]).isEmpty)
    }
}
