// SPDX-License-Identifier: Apache-2.0

import GatewayAdmin
import SafeText

/// Removes from a message what a reader of a trace may not see.
///
/// It reads lines, not SIP grammar, so it works for malformed messages as well. For a withheld caller it keeps only header
/// fields that are known to name nobody, so an unknown field cannot carry the number out.
struct TraceRedaction {
    /// The parts of a message that a reader may see.
    enum Exposure: Hashable, Sendable {
        /// Everything but credentials.
        case full
        /// Numbers of seven digits or more lose their middle.
        case masked
        /// A party withholds its number, or nobody knows if one does.
        case withheld
    }

    private let exposure: Exposure
    /// The last digits of withheld numbers.
    private let secrets: [[UInt8]]

    /// - Parameter secrets: the users of the URIs that named a withheld caller.
    init(_ exposure: Exposure, secrets: [[UInt8]] = []) {
        self.exposure = exposure
        self.secrets = exposure == .withheld ? secrets.compactMap(Self.ending) : []
    }

    /// The message as the reader may see it; the length of the body stays.
    func message(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count + 64)
        var contentType: [UInt8] = []
        var position = 0
        var isFirst = true
        while position < bytes.count {
            let line = Self.line(in: bytes, at: position, folded: !isFirst)
            position = line.next
            if line.content.isEmpty, !isFirst {
                out += bytes[line.content.endIndex..<line.next]
                break
            }
            if isFirst {
                out += startLine(line.content)
                isFirst = false
            } else {
                let field = TraceField(line.content)
                if field.name == "content-type" { contentType = Array(field.value) }
                out += header(field, line.content)
            }
            out += bytes[line.content.endIndex..<line.next]
        }
        out += body(bytes[position...], contentType)
        return hidingSecrets(out)
    }

    /// A short text, such as a Call-ID or a summary, as the reader may see it.
    func text(_ bytes: [UInt8]) -> String {
        let shown = hidingSecrets(
            exposure == .full ? bytes : NumberMask.masked(bytes[...], keepsEnds: exposure == .masked))
        return String(decoding: shown, as: UTF8.self)
    }

    /// A Call-ID as the reader may see it.
    func callID(_ bytes: [UInt8]) -> String { String(decoding: hidingSecrets(bytes), as: UTF8.self) }

    // MARK: Lines

    /// A line up to its CR or LF, with the folded lines behind it (RFC 3261 §7.3.1).
    private static func line(in bytes: [UInt8], at start: Int, folded: Bool) -> (content: ArraySlice<UInt8>, next: Int)
    {
        var end = start
        while true {
            while end < bytes.count, bytes[end] != 13, bytes[end] != 10 { end += 1 }
            var next = end
            if next < bytes.count, bytes[next] == 13 { next += 1 }
            if next < bytes.count, bytes[next] == 10 { next += 1 }
            guard folded, end > start, next < bytes.count, bytes[next] == 32 || bytes[next] == 9 else {
                return (bytes[start..<end], next)
            }
            end = next
        }
    }

    private func startLine(_ line: ArraySlice<UInt8>) -> [UInt8] {
        if exposure == .full { return Array(line) }
        if line.starts(with: "SIP/2.0 ".utf8) {
            return line.prefix(12) + NumberMask.masked(line.dropFirst(12), keepsEnds: exposure == .masked)
        }
        if exposure == .masked { return NumberMask.masked(line) }
        let words = line.split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3, words[2].elementsEqual("SIP/2.0".utf8),
            words[0].allSatisfy({ (97...122).contains($0 | 0x20) })
        else { return Self.stars }
        return Array(words[0]) + Array(" sip:***@anonymous.invalid SIP/2.0".utf8)
    }

    private func header(_ field: TraceField, _ line: ArraySlice<UInt8>) -> [UInt8] {
        let start = Array(line[..<field.value.startIndex])
        if TraceField.credentials.contains(field.name) { return start + Self.stars }
        if exposure == .full { return Array(line) }
        if field.name == "via" { return start + TraceField.withoutOriginalFrom(field.value) }
        if TraceField.opaque.contains(field.name) { return Array(line) }
        if TraceField.routes.contains(field.name) || TraceField.harmless.contains(field.name) {
            return start + NumberMask.masked(TraceField.withoutCookie(field.value), keepsEnds: exposure == .masked)
        }
        guard exposure == .withheld else {
            if field.name == "identity" { return start + Self.stars }
            let (value, tag, rest) = TraceField.splitTag(field.value)
            return start + NumberMask.masked(value) + tag + NumberMask.masked(rest)
        }
        guard TraceField.tagged.contains(field.name) else { return start + Self.stars }
        return start + Array("<sip:***@anonymous.invalid>".utf8) + TraceField.splitTag(field.value).tag
    }

    private static let stars = Array("***".utf8)

    // MARK: Body

    private func body(_ body: ArraySlice<UInt8>, _ contentType: [UInt8]) -> [UInt8] {
        guard exposure != .full, !body.isEmpty else { return Array(body) }
        let isSDP = String(decoding: contentType.prefix(15), as: UTF8.self).lowercased() == "application/sdp"
        guard isSDP else {
            return exposure == .masked ? NumberMask.masked(body) : body.map { $0 == 13 || $0 == 10 ? $0 : 42 }
        }
        var out: [UInt8] = []
        var start = body.startIndex
        while start < body.endIndex {
            let end = body[start...].firstIndex(of: 10).map { $0 + 1 } ?? body.endIndex
            out += description(body[start..<end])
            start = end
        }
        return out
    }

    /// A line of a session description, with its length: texts and user names may name a person (RFC 8866 §5).
    private func description(_ line: ArraySlice<UInt8>) -> [UInt8] {
        guard line.count > 2, line[line.startIndex + 1] == UInt8(ascii: "=") else {
            return exposure == .masked ? NumberMask.masked(line) : line.map { $0 == 13 || $0 == 10 ? $0 : 42 }
        }
        switch line[line.startIndex] {
        case UInt8(ascii: "v"), UInt8(ascii: "t"), UInt8(ascii: "m"), UInt8(ascii: "c"), UInt8(ascii: "b"):
            return Array(line)
        case UInt8(ascii: "o"):
            // The user name alone; the numbers behind it are the session's.
            let end = line.firstIndex(of: 32) ?? line.endIndex
            let name = line[(line.startIndex + 2)..<end]
            let hidden = exposure == .masked ? NumberMask.masked(name) : name.map { _ in 42 }
            return Array(line[..<name.startIndex]) + hidden + Array(line[end...])
        case UInt8(ascii: "a"): return exposure == .masked ? Array(line) : NumberMask.masked(line, keepsEnds: false)
        default:
            if exposure == .masked { return NumberMask.masked(line) }
            return Array(line.prefix(2)) + line.dropFirst(2).map { $0 == 13 || $0 == 10 ? $0 : 42 }
        }
    }

    // MARK: Withheld numbers

    /// The digits by which a withheld number is found: its last seven, or all of a shorter one.
    private static func ending(_ user: [UInt8]) -> [UInt8]? {
        let digits = user.filter { (48...57).contains($0) }
        return digits.count >= 5 ? Array(digits.suffix(7)) : nil
    }

    /// The last defence: a withheld number in a field that should not have it, such as the Call-ID.
    private func hidingSecrets(_ bytes: [UInt8]) -> [UInt8] {
        guard !secrets.isEmpty else { return bytes }
        var out = bytes
        for secret in secrets {
            var start = 0
            while let found = out[start...].firstRange(of: secret) {
                var (first, end) = (found.lowerBound, found.upperBound)
                while first > 0, (48...57).contains(out[first - 1]) { first -= 1 }
                while end < out.count, (48...57).contains(out[end]) { end += 1 }
                for position in first..<end { out[position] = 42 }
                start = end
            }
        }
        return out
    }
}
