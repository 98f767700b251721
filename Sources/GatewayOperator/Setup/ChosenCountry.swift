// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import Primitives

/// A country as an operator names it: by code, name or calling code.
struct ChosenCountry: Hashable, Sendable {
    let region: Region
    /// The English name; the code where none is known.
    let name: String

    private struct Entry {
        let code: String
        let names: [String]
    }

    private static let entries = CountryNames.table.split(separator: "\n").map { line in
        Entry(code: String(line.prefix(2)), names: line.dropFirst(3).split(separator: "|").map(String.init))
    }

    private init(_ region: Region) {
        self.region = region
        name = Self.entries.first { $0.code == "\(region)" }?.names.first ?? "\(region)"
    }

    /// Reads `AU`, `au`, `Australia`, `+61` or `61`.
    static func read(_ text: String) throws(SetupProblem) -> ChosenCountry {
        let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let digits = word.hasPrefix("+") ? word.dropFirst() : word[...]
        if !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) {
            return try ofCallingCode(String(digits))
        }
        let code = word.uppercased() == "UK" ? "GB" : word.uppercased()
        if let region = Region(code) { return ChosenCountry(region) }
        let folded = fold(word)
        if let entry = entries.first(where: { $0.names.contains { fold($0) == folded } }),
            let region = Region(entry.code)
        {
            return ChosenCountry(region)
        }
        let hint = NearestName.hint(word, among: entries.flatMap(\.names))
        throw SetupProblem("\"\(word)\" is no country with a numbering plan; write two letters such as AU or DE\(hint)")
    }

    private static func ofCallingCode(_ digits: String) throws(SetupProblem) -> ChosenCountry {
        let code = Int(digits) ?? 0
        let regions = code < 1000 ? Region.all.filter { $0.callingCode == code } : []
        guard let first = regions.first else {
            throw SetupProblem("+\(digits) is no country's calling code; write two letters such as AU or DE")
        }
        guard regions.count == 1 else {
            let shown = regions.prefix(8).map { "\($0)" }.joined(separator: ", ") + (regions.count > 8 ? ", …" : "")
            throw SetupProblem(
                "+\(code) is the calling code of several countries (\(shown)); write the country's two letters")
        }
        return ChosenCountry(first)
    }

    /// A name without case, accents, punctuation and the words that people leave out.
    private static func fold(_ text: String) -> String {
        let plain = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        let words = plain.replacing("&", with: " and ").split { !$0.isLetter }.map(String.init)
        return words.map { $0 == "st" ? "saint" : $0 }.filter { $0 != "the" }.joined(separator: " ")
    }
}
