// SPDX-License-Identifier: Apache-2.0

/// The lines of a SIP message before and after Herald: `-` for those of the received one only, `+` for those of the sent one
/// only, a blank for both.
struct ChangedLines {
    typealias Line = (mark: String, line: String)

    /// The lines in order.
    let all: [Line]

    /// - Parameter sent: nil for a message that is not forwarded.
    init(from received: String, to sent: String?) {
        let before = Self.lines(of: received)
        guard let sent else {
            all = before.map { (" ", $0) }
            return
        }
        let after = Self.lines(of: sent)
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in after.difference(from: before) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [Line] = []
        var (old, new) = (0, 0)
        while old < before.count || new < after.count {
            if removed.contains(old) {
                lines.append(("-", before[old]))
                old += 1
            } else if inserted.contains(new) {
                lines.append(("+", after[new]))
                new += 1
            } else {
                lines.append((" ", before[old]))
                (old, new) = (old + 1, new + 1)
            }
        }
        all = lines
    }

    private static func lines(of text: String) -> [String] {
        var lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
