// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation

/// The INVITEs of many makers in `Invites/`, each with what a trusted Australian trunk makes of it.
struct InviteCorpus {
    struct Row: CustomStringConvertible, Sendable {
        let file: String
        let number: E164Number?
        let decision: String
        /// How many values of From, PAI and RPID carry the name afterwards.
        let names: [String: Int]
        let removedCallInfo: [String]
        let keptCallInfo: [String]
        let removedFields: [String]

        var description: String { file }

        var bytes: [UInt8] {
            get throws { [UInt8](try Data(contentsOf: InviteCorpus.folder.appending(path: file))) }
        }
    }

    struct BrokenRow: CustomStringConvertible, Sendable {
        let file: String
        /// A status code, `drop` or `forward`.
        let response: String

        var description: String { file }

        var bytes: [UInt8] {
            get throws { [UInt8](try Data(contentsOf: InviteCorpus.folder.appending(path: "broken/\(file)"))) }
        }
    }

    static let folder = Bundle.module.bundleURL.appending(path: "Invites")

    static let rows: [Row] = table("corpus.tsv").map { fields in
        let names = fields[3].split(separator: " ").map { $0.split(separator: "=") }
        return Row(
            file: fields[0], number: E164Number(fields[1]), decision: fields[2],
            names: Dictionary(uniqueKeysWithValues: names.map { (String($0[0]), Int($0[1]) ?? 0) }),
            removedCallInfo: list(fields[4], " | "), keptCallInfo: list(fields[5], " | "),
            removedFields: list(fields[6], " "))
    }

    static let broken: [BrokenRow] = table("broken/broken.tsv").map { BrokenRow(file: $0[0], response: $0[1]) }

    private static func list(_ text: String, _ separator: String) -> [String] {
        text == "-" ? [] : text.components(separatedBy: separator)
    }

    private static func table(_ name: String) -> [[String]] {
        let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return lines.dropFirst().map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }
}

/// A message cut into start line, fields and body by the test's own rules, so that it can judge the gateway's.
struct RawMessage {
    struct Field: Hashable {
        let name: String
        /// The whole field with its folds and its line end.
        let raw: [UInt8]

        var value: String {
            let text = String(decoding: raw, as: UTF8.self)
            return String(text[(text.firstIndex(of: ":").map(text.index(after:)) ?? text.startIndex)...])
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private(set) var startLine: [UInt8] = []
    private(set) var fields: [Field] = []
    private(set) var body: [UInt8] = []

    init(_ bytes: [UInt8]) {
        var lines: [[UInt8]] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: 10) {
            let line = Array(bytes[start...end])
            start = end + 1
            if line == [13, 10] { break }
            lines.append(line)
        }
        body = Array(bytes[start...])
        startLine = lines.first ?? []
        for line in lines.dropFirst() {
            if line.first == 32 || line.first == 9, let last = fields.popLast() {
                fields.append(Field(name: last.name, raw: last.raw + line))
            } else {
                let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
                fields.append(Field(name: Self.longForm(name.trimmingCharacters(in: .whitespaces)), raw: line))
            }
        }
    }

    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    private static func longForm(_ name: String) -> String {
        let compact = ["v": "via", "f": "from", "t": "to", "i": "call-id", "m": "contact", "l": "content-length"]
        return compact[name.lowercased()] ?? name.lowercased()
    }
}
