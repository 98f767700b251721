// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Documents")
struct DocumentTests {
    @Test func `the README is short and names the two commands`() throws {
        let lines = try Repository.lines("README.md")
        #expect(lines.count <= 150)
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
        for path in Set(paths) {
            #expect(Repository.exists(path), "README.md names \(path), which does not exist")
        }
    }

    @Test func `every test that the page on the contract names exists`() throws {
        let text = try Repository.text("docs/contract.md")
        let tests = Set(text.matches(of: /`((?:Branding|Directory|Gateway)\w*Tests\/\w+)`/).map { String($0.1) })
        #expect(tests.count > 30)
        for test in tests {
            let parts = test.split(separator: "/")
            let places = ["", "Outcome/", "Ring/", "Admission/"].map { "Tests/\(parts[0])/\($0)\(parts[1]).swift" }
            #expect(places.contains { Repository.exists($0) }, "docs/contract.md names \(test), which does not exist")
        }
    }

    @Test func `the page on operation has every metric and every decision`() throws {
        let page = try Repository.text("docs/operating.md")
        let sources =
            Repository.paths(under: "Sources/herald", endingWith: [".swift"])
            + Repository.paths(under: "Sources/CallPath", endingWith: [".swift"])
            + Repository.paths(under: "Sources/CallAccounting", endingWith: [".swift"])
        var metrics: Set<String> = []
        for path in sources {
            metrics.formUnion(try Repository.text(path).matches(of: /"(herald_[a-z_]+)"/).map { String($0.1) })
        }
        #expect(metrics.count > 40)
        for metric in metrics.sorted() { #expect(page.contains("| `\(metric)` |"), "\(metric)") }
        let reasons = try Repository.text("Sources/Branding/PassThroughReason.swift")
        let words = reasons.matches(of: /case \.\w+: "([a-z_:]+)"/).map { String($0.1) }
        #expect(words.count > 15)
        for word in words { #expect(page.contains("| `\(word)` |"), "\(word)") }
    }

    @Test func `the page on records has every field, and CSV has those of JSON`() throws {
        let page = try Repository.text("docs/records.md")
        let source = try Repository.text("Sources/herald/CallsOutput.swift")
        let fields = source.matches(of: /"([a-z0-9_]+)": (?:\.|JSONValue)/).map { String($0.1) }
        let list = try #require(source.firstMatch(of: /csvTitles = \[([^\]]*)\]/))
        let titles = list.1.matches(of: /"([a-z0-9_]+)"/).map { String($0.1) }
        #expect(fields.count > 20)
        #expect(Set(fields) == Set(titles) && titles.count == fields.count)
        for field in fields { #expect(page.contains("`\(field)`"), "\(field)") }
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
