// SPDX-License-Identifier: Apache-2.0

import Testing

/// Each kind of page has its size and its headings, and leads where its links say.
@Suite("Pages")
struct PageTests {
    private func headings(_ path: String) throws -> [String] {
        try Repository.lines(path).filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
    }

    @Test(arguments: [("README.md", 150), ("ARCHITECTURE.md", 200), ("docs/performance.md", 120)])
    func `a page is short`(_ path: String, _ most: Int) throws {
        let count = try Repository.lines(path).count
        #expect(count <= most, "\(path) has \(count) lines, at most \(most) are wanted")
    }

    @Test func `a decision is one page with context, decision and consequences`() throws {
        let index = try Repository.text("docs/decisions/README.md")
        let decisions = Repository.paths(under: "docs/decisions", endingWith: [".md"]).filter {
            !$0.hasSuffix("/README.md")
        }
        #expect(!decisions.isEmpty)
        for path in decisions {
            #expect(try Repository.lines(path).count <= 40, "\(path) is too long")
            let found = try headings(path)
            #expect(
                Array(found.prefix(3)) == ["Context", "Decision", "Consequences"]
                    && Array(found.dropFirst(3)) == found.dropFirst(3).filter { $0 == "Figures" },
                "\(path) has the headings \(found)")
            let name = String(path.split(separator: "/").last ?? "")
            #expect(index.contains("](\(name))"), "docs/decisions/README.md does not list \(name)")
        }
    }

    @Test func `each target has a page that says where to start`() throws {
        let targets = Repository.paths(under: "Sources", endingWith: [".swift"]).compactMap { path in
            path.split(separator: "/").dropFirst().first.map { "Sources/\($0)" }
        }
        for target in Set(targets).sorted() {
            let path = target + "/README.md"
            guard Repository.exists(path) else {
                Issue.record("\(path) is missing")
                continue
            }
            #expect(try Repository.lines(path).count <= 60, "\(path) is too long")
            let found = try headings(path)
            #expect(found == ["Purpose", "Invariants", "Start reading at", "Depends on"], "\(path): \(found)")
        }
    }

    @Test func `every link leads to a file and a heading that exist`() throws {
        for page in Repository.paths(under: "", endingWith: [".md"]) {
            let folder = page.split(separator: "/").dropLast().map(String.init)
            for match in try Repository.text(page).matches(of: /\]\(([^)\s]+)\)/) {
                let link = String(match.1)
                if link.hasPrefix("http") || link.hasPrefix("mailto:") { continue }
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let path = parts[0].isEmpty ? page : resolve(parts[0], from: folder)
                #expect(Repository.exists(path), "\(page) links to \(link), which does not exist")
                guard parts.count == 2, Repository.exists(path) else { continue }
                #expect(try anchors(path).contains(parts[1]), "\(page) links to \(link), a heading that does not exist")
            }
        }
    }

    @Test func `every page that code and configuration name exists`() throws {
        let endings = [".swift", ".py", ".sh", ".yaml", ".service", ".xml", ".c", ".h"]
        for folder in ["Sources", "Tests", "Config", "Deploy"] {
            for path in Repository.paths(under: folder, endingWith: endings) {
                // Pages of other projects, quoted with the name of their repository.
                if path.hasSuffix("/PublishedExamplesTests.swift") || path.hasSuffix("/PublishedShapes.swift") {
                    continue
                }
                for match in try Repository.text(path).matches(of: /\bdocs\/[A-Za-z0-9_\/-]+\.md/) {
                    #expect(Repository.exists(String(match.0)), "\(path) names \(match.0)")
                }
            }
        }
    }

    @Test func `the architecture, the other pages and the READMEs of targets name files that exist`() throws {
        let files = Set(
            ["Sources", "Tests"].flatMap { Repository.paths(under: $0, endingWith: [".swift"]) }
                .map { String($0.split(separator: "/").last ?? "") } + ["Package.swift"])
        let pages =
            ["README.md", "ARCHITECTURE.md"]
            + ["Sources", "docs"].flatMap { Repository.paths(under: $0, endingWith: [".md"]) }
        for page in pages {
            let named = Set(
                try Repository.text(page).matches(of: /`(?:[A-Za-z\/-]*\/)?([A-Za-z]+\.swift)`/).map { String($0.1) })
            #expect(page != "ARCHITECTURE.md" || named.count > 30)
            let missing = named.subtracting(files).sorted()
            #expect(missing.isEmpty, "\(page) names files that do not exist")
        }
    }

    @Test func `the README of a target names the targets that it depends on`() throws {
        let package = try Repository.text("Package.swift")
        let targets = Set(
            Repository.paths(under: "Sources", endingWith: ["/README.md"]).compactMap {
                $0.split(separator: "/").dropFirst().first.map(String.init)
            })
        var declared: [String: Set<String>] = [:]
        for match in package.matches(of: /name: "([\w-]+)",\s+dependencies: \[([^\]]*)\]/) {
            let names = match.2.matches(of: /"([\w-]+)"/).map { String($0.1) }
            declared[String(match.1)] = targets.intersection(names)
        }
        #expect(declared["GatewayApp"]?.contains("CallPath") == true)
        for target in targets.sorted() {
            let text = try Repository.text("Sources/\(target)/README.md")
            let section = try #require(text.firstRange(of: "## Depends on"), "\(target)")
            let words = text[section.upperBound...].matches(of: /[\w-]+/).map { String($0.0) }
            let named = targets.intersection(words)
            #expect(named == declared[target] ?? [], "Sources/\(target)/README.md differs from Package.swift")
        }
    }

    private func resolve(_ link: String, from folder: [String]) -> String {
        var path = folder
        for part in link.split(separator: "/") {
            if part == ".." { path = Array(path.dropLast()) } else if part != "." { path.append(String(part)) }
        }
        return path.joined(separator: "/")
    }

    /// The anchors of a page's headings, as GitHub makes them.
    private func anchors(_ path: String) throws -> Set<String> {
        Set(
            try Repository.lines(path).filter { $0.hasPrefix("#") }.map { line in
                let title = line.drop { $0 == "#" }.dropFirst().lowercased()
                return String(
                    title.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : nil })
            })
    }
}
