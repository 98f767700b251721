// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An INVITE out of a log, a trace or a packet capture as text.
///
/// Line ends may be LF or CRLF. Text around the message is left out: the header and footer lines of Asterisk and sngrep, and
/// a prefix of each line such as a time. Content-Length is corrected, because a paste changes line ends.
struct PastedInvite: Hashable, Sendable {
    /// The text has no INVITE; the description names what it has.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    /// The message with CRLF line ends.
    let bytes: [UInt8]
    /// The sender as a log line names it, such as `203.0.113.5:5060`; nil where none does.
    let source: String?
    /// Changes to the pasted text, for the operator.
    private(set) var changes: [String] = []

    /// Finds the first INVITE.
    init(_ text: String) throws(Failure) {
        let lines = Self.lines(of: text)
        guard let start = lines.firstIndex(where: { Self.invite(in: $0) != nil }),
            let mark = Self.invite(in: lines[start])
        else { throw Failure(description: Self.absence(in: lines)) }
        let prefix = String(lines[start][..<mark])
        let message = Self.message(Array(lines[start...]), prefix: prefix)
        source = Self.source(in: lines[..<start] + [prefix])
        var head = message.head
        let body = message.body.isEmpty ? "" : message.body.joined(separator: "\r\n") + "\r\n"
        if let position = head.firstIndex(where: Self.isContentLength) {
            let length = head[position].drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
            if Int(length) != body.utf8.count {
                head[position] = "Content-Length: \(body.utf8.count)"
                changes.append(
                    "Content-Length \(length) corrected to \(body.utf8.count), the length of the pasted body")
            }
        } else {
            head.append("Content-Length: \(body.utf8.count)")
            changes.append("Content-Length: \(body.utf8.count) added")
        }
        if !prefix.isEmpty { changes.append("a prefix of each line left out") }
        bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private static func lines(of text: String) -> [String] {
        text.replacing("\r\n", with: "\n").replacing("\r", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
    }

    /// The place of `INVITE` in a line that ends as a request line does.
    private static func invite(in line: String) -> String.Index? {
        guard line.trimmingCharacters(in: .whitespaces).hasSuffix(" SIP/2.0") else { return nil }
        return line.range(of: "INVITE ")?.lowerBound
    }

    private static func absence(in lines: [String]) -> String {
        let remedy = "paste the whole message, from its line INVITE sip:… SIP/2.0 to its end"
        if let other = lines.first(where: { $0.trimmingCharacters(in: .whitespaces).hasSuffix(" SIP/2.0") }) {
            let method = other.split(separator: " ").first.map(String.init) ?? "another request"
            return "the text has a \(method) and no INVITE; \(remedy)"
        }
        if lines.contains(where: { $0.contains("SIP/2.0 ") }) {
            return "the text has a response and no INVITE; \(remedy)"
        }
        return "the text has no INVITE; \(remedy)"
    }

    /// Header lines and body lines of the message.
    private static func message(_ lines: [String], prefix: String) -> (head: [String], body: [String]) {
        let lines = lines.prefix { !isFooter($0) }.map { withoutPrefix($0, like: prefix) }
        let end = lines.firstIndex { $0.allSatisfy(\.isWhitespace) } ?? lines.count
        var body = lines[min(end + 1, lines.count)...].prefix { !isStartLine($0) }
        while let last = body.last, last.allSatisfy(\.isWhitespace) { body.removeLast() }
        return (Array(lines[..<end]), Array(body))
    }

    /// `<--- Transmitting …`, `<------------->` and `---` of Asterisk, `----` of sngrep and ngrep.
    private static func isFooter(_ line: String) -> Bool {
        let text = line.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("<--") { return true }
        return text.count >= 3 && (text.allSatisfy { $0 == "-" } || text.allSatisfy { $0 == "=" })
    }

    private static func isStartLine(_ line: String) -> Bool {
        line.hasPrefix("SIP/2.0 ") || line.hasSuffix(" SIP/2.0")
    }

    /// A line without a prefix of the same length, where digits may differ: the time of a log goes on.
    private static func withoutPrefix(_ line: String, like prefix: String) -> String {
        guard !prefix.isEmpty else { return line }
        let start = line.prefix(prefix.count)
        let isAlike = zip(start, prefix).allSatisfy { $0 == $1 || $0.isNumber && $1.isNumber }
        if isAlike, start.count == prefix.count { return String(line.dropFirst(prefix.count)) }
        // A blank line may lack the white space at the end of the prefix.
        let trimmed = prefix.trimmingCharacters(in: .whitespaces)
        return line.trimmingCharacters(in: .whitespaces).count <= trimmed.count ? "" : line
    }

    private static func isContentLength(_ line: String) -> Bool {
        let name = line.prefix { $0 != ":" }.trimmingCharacters(in: .whitespaces).lowercased()
        return line.contains(":") && (name == "content-length" || name == "l")
    }

    /// `from UDP:203.0.113.5:5060` of Asterisk, `203.0.113.5:5060 -> 192.0.2.10:5060` of sngrep and ngrep.
    private static func source(in lines: some BidirectionalCollection<String>) -> String? {
        for line in lines.reversed().prefix(4) {
            if let found = line.firstMatch(of: #/from (?:UDP|TCP|TLS):(\[?[0-9A-Fa-f.:]+\]?:[0-9]+)/#) {
                return String(found.1)
            }
            if let found = line.firstMatch(of: #/(\[?[0-9A-Fa-f.:]+\]?:[0-9]+) -> /#) { return String(found.1) }
        }
        return nil
    }
}
