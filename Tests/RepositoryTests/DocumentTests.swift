// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Documents")
struct DocumentTests {
    @Test func `the README names the two commands`() throws {
        let text = try Repository.text("README.md")
        #expect(text.contains("Deploy/demo"))
        #expect(text.contains("Deploy/test"))
    }

    @Test func `every file the README names exists`() throws {
        let folders = ["Config/", "Deploy/", "Tests/", "Sources/", ".ci/", "docs/"]
        let separators: Set<Character> = [" ", "\n", "`", "(", ")", "|", ",", ";", "\"", "'"]
        let words = try Repository.text("README.md").split { separators.contains($0) }
        let paths = words.filter { word in folders.contains { word.hasPrefix($0) } }
            .map { word in String(word.last == "." || word.last == ":" ? word.dropLast() : word) }
        #expect(paths.count > 5)
        for path in Set(paths.map { String($0.prefix { $0 != "#" }) }) {
            #expect(Repository.exists(path), "README.md names \(path), which does not exist")
        }
    }

    @Test func `every test that the page on the contract names exists`() throws {
        let text = try Repository.text("docs/contract.md")
        let tests = Set(text.matches(of: /`(\w+Tests)`/).map { String($0.1) })
        #expect(tests.count > 30)
        let names = Set(Repository.paths(under: "Tests").flatMap { $0.split(separator: "/").map(String.init) })
        for test in tests {
            #expect(
                names.contains(test + ".swift") || names.contains(test),
                "docs/contract.md names \(test), which does not exist")
        }
    }

    @Test func `the page on monitoring has every metric`() throws {
        let page = try Repository.text("docs/monitoring.md")
        var metrics: Set<String> = []
        for path in Repository.paths(under: "Sources", endingWith: [".swift"]) {
            metrics.formUnion(
                try Repository.text(path).matches(of: /"((?:herald|process)_[a-z_]+)"/).map { String($0.1) })
        }
        #expect(metrics.count > 40)
        for metric in metrics.sorted() { #expect(page.contains("| `\(metric)` |"), "\(metric)") }
    }

    @Test func `the page on monitoring has the help text of every metric`() throws {
        let page = try Repository.text("docs/monitoring.md")
        var count = 0
        for path in Repository.paths(under: "Sources", endingWith: [".swift"]) {
            let metrics = try Repository.text(path).matches(
                of: /"((?:herald|process)_[a-z_]+)",\s*(?:help:\s*)?"([^"]+)"/)
            for metric in metrics { #expect(page.contains("| `\(metric.1)` | \(metric.2)"), "\(path)") }
            count += metrics.count
        }
        #expect(count > 50)
    }

    @Test func `the page on reasons has every decision`() throws {
        let page = try Repository.text("docs/reasons.md")
        let reasons = try Repository.text(named: "PassThroughReason.swift")
        let words = reasons.matches(of: /case \.\w+: "([a-z_:]+)"/).map { String($0.1) }
        #expect(words.count > 15)
        for word in words { #expect(page.contains("| `\(word)` |"), "\(word)") }
    }

    @Test func `the page on signers has every cause`() throws {
        let page = try Repository.text("docs/trust.md")
        let causes = try Repository.text(named: "TrustCause.swift")
        let words = causes.matches(of: /case \.\w+: "([a-z_]+)"/).map { String($0.1) }
        #expect(words.count > 45)
        for word in words { #expect(page.contains("| `\(word)` |"), "\(word)") }
    }

    @Test func `the licence is the whole Apache licence`() throws {
        let text = try Repository.text("LICENSE")
        #expect(text.contains("Version 2.0, January 2004"))
        #expect(text.contains("END OF TERMS AND CONDITIONS"))
    }

    @Test func `the pipeline runs the one test command`() throws {
        #expect(try Repository.text(".ci/run").contains("Deploy/test"))
    }
}
