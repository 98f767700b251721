// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestFixtures
import Testing

@testable import ConfigurationFiles

/// Compares the keys that pages name with those that the programs read.
@Suite("Configuration keys on pages")
struct PageKeysTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Sections that pages leave out before a key, with `%` in its place.
    private static let sections = [
        "%", "listen: [{%}]", "trunks: [{%}]", "pbx: [{%}]", "directory: {%}", "outcomes: {%}",
        "outcomes: {kafka: {%}}",
        "admin: {%}", "trace: {%}", "routes: {%}", "customers: [{%}]", "customers: [{directory: {%}}]",
    ]

    /// Names with dots that are no keys: files, hosts, tables, and settings of other products.
    private static func isNoKey(_ name: String) -> Bool {
        let endings = [
            ".sqlite", ".yaml", ".ring", ".sock", ".xml", ".cfg", ".conf", ".crt", ".json", ".h", ".c", ".com",
            ".invalid", ".service", ".signals", ".md", ".swift", ".pem", ".csv", ".txt", ".png", ".example",
        ]
        let others = [
            "memory.", "ledger.", "min.insync", "max.message", "auto.create", "advertised.", "account.", "net.",
            "stun.",
        ]
        return endings.contains { name.hasSuffix($0) } || others.contains { name.hasPrefix($0) }
    }

    /// The problems of a key in a section of a program's file.
    private func problems(_ yaml: String, isDirectory: Bool) throws -> [String] {
        let folder = TemporaryFolder()
        let path = try folder.write(yaml, to: "file.yaml")
        defer { withExtendedLifetime(folder) {} }
        do {
            if isDirectory {
                _ = try DirectoryConfiguration.load(path: path)
            } else {
                _ = try HeraldConfiguration.load(path: path, secrets: .ignored)
            }
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    /// True if either program reads the key, and takes the value where there is one.
    private func isRead(_ name: String, _ value: String?) throws -> Bool {
        let parts = name.split(separator: ".")
        let lists = ["listen", "trunks", "pbx", "customers"]
        // An unknown key beside it shows that the program reads the section.
        let own = "\(parts.last ?? ""): \(value ?? ""), zzz: 1"
        let inner = parts.dropLast().reversed().reduce(own) { text, part in
            lists.contains(String(part)) ? "\(part): [{\(text)}]" : "\(part): {\(text)}"
        }
        for isDirectory in [false, true] {
            for section in Self.sections {
                let found = try problems(section.replacing("%", with: inner) + "\n", isDirectory: isDirectory)
                let own = found.filter { $0.contains(".\(parts.last ?? ""): ") }
                guard found.contains(where: { $0.contains(".zzz: unknown key") }) else { continue }
                if value == nil ? !own.contains(where: { $0.contains("unknown key") }) : own.isEmpty { return true }
            }
        }
        return false
    }

    @Test func `every key that a page names is read by a program, with the value beside it`() throws {
        let docs = Self.root.appendingPathComponent("docs")
        let files = FileManager.default.enumerator(atPath: docs.path)?.compactMap { $0 as? String } ?? []
        var named: [String: Set<String>] = [:]
        for file in files + ["../README.md"] where file.hasSuffix(".md") {
            let text = try String(contentsOf: docs.appendingPathComponent(file), encoding: .utf8)
            for match in text.matches(of: /`([a-z_]+(?:\.[a-z_0-9]+)+)(?:: ([a-z0-9]+))?`/) {
                let key = String(match.1) + (match.2.map { ": \($0)" } ?? "")
                guard !Self.isNoKey(String(match.1)) else { continue }
                named[key, default: []].insert(file)
            }
        }
        #expect(named.count > 60)
        for (key, pages) in named {
            let parts = key.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let isRead = try isRead(parts[0], parts.count == 2 ? parts[1] : nil)
            #expect(isRead, "\(pages.sorted().joined(separator: ", ")): no program reads \(key)")
        }
    }

    @Test(
        arguments: [
            ("logos.max_total", nil, true), ("logos.max_totl", nil, false), ("tls.roots", nil, true),
            ("log.numbers", "full", true), ("log.numbers", "fullish", false), ("events.keep_days", nil, true),
            ("gateway.keep_days", nil, false), ("trunks.policy", "strict", true), ("trunks.policy", "stern", false),
        ] as [(String, String?, Bool)])
    func `a key and a value are told from others`(name: String, value: String?, expected: Bool) throws {
        #expect(try isRead(name, value) == expected)
    }
}
