// SPDX-License-Identifier: Apache-2.0

/// Suggests the known name that is most similar to a misspelt one.
public enum NearestName {
    /// Returns the name with the fewest edits; nil if more than a third of its letters differ.
    public static func find(_ word: String, among names: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased())
        let similar = names.filter { abs($0.count - letters.count) <= limit($0) }
        let ranked = similar.map { (name: $0, distance: distance(letters, Array($0.lowercased()))) }
        guard let best = ranked.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) else { return nil }
        return best.distance <= limit(best.name) ? best.name : nil
    }

    /// Most edits between a name and a misspelt one.
    private static func limit(_ name: String) -> Int { max(1, (name.count + 1) / 3) }

    /// Returns `; did you mean "…"?`, or nothing without a similar name.
    public static func hint(_ word: String, among names: some Sequence<String>) -> String {
        find(word, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// Returns the Levenshtein distance, with swapped neighbours counted as one edit.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var best = min(last[column + 1] + 1, current[column] + 1)
                best = min(best, last[column] + (left[row] == right[column] ? 0 : 1))
                let isSwapped =
                    row > 0 && column > 0 && left[row] == right[column - 1] && left[row - 1] == right[column]
                if isSwapped { best = min(best, beforeLast[column - 1] + 1) }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
