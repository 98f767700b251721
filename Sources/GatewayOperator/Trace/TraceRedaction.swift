// SPDX-License-Identifier: Apache-2.0

import CallPath
import Primitives
import SIPCore

/// Removes from a message what a reader of a trace may not see.
///
/// It reads lines, not SIP grammar, so it works for malformed messages as well. For a withheld caller it keeps only header
/// fields that are known to name nobody, so an unknown field cannot carry the number out. One pass, into memory of the caller.
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

    /// The form of the Call-ID of a withheld caller, which may have the number in it.
    enum CallIDs: Sendable {
        case asReceived
        /// Without numbers: nobody knows if the caller is withheld, and the operator may need the rest.
        case masked
        /// The name that the call has in records.
        case named(Secret)
    }

    private let exposure: Exposure
    /// The last digits of withheld numbers.
    private let secrets: [[UInt8]]
    private let callIDs: CallIDs

    /// - Parameters:
    ///   - secrets: the users of the URIs that named a withheld caller.
    ///   - callIDs: the form of the Call-ID if the exposure is `withheld`.
    init(_ exposure: Exposure, secrets: [[UInt8]] = [], callIDs: CallIDs = .asReceived) {
        self.exposure = exposure
        self.secrets = exposure == .withheld ? secrets.compactMap(Self.ending) : []
        self.callIDs = exposure == .withheld ? callIDs : .asReceived
    }

    /// The rules for a call.
    ///
    /// - Parameter secret: the gateway's, by which records name the Call-IDs of withheld callers.
    init(_ marks: TraceCalls.Marks, _ numbers: TraceOrder.Numbers, secrets: [[UInt8]], _ secret: Secret) {
        let callIDs = marks.contains(.withheld) ? CallIDs.named(secret) : .masked
        self.init(marks.exposure(numbers), secrets: secrets, callIDs: callIDs)
    }

    /// The message as the reader may see it; the length of the body stays.
    func message(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count + 64)
        append(bytes, to: &out)
        return out
    }

    /// Appends the message as the reader may see it; the length of the body stays.
    func append(_ message: [UInt8], to out: inout [UInt8]) {
        let start = out.count
        let bytes = message.span
        var contentType = 0..<0
        var position = 0
        var isFirst = true
        while position < bytes.count {
            let line = Self.line(in: bytes, at: position, folded: !isFirst)
            position = line.next
            let ending = line.content.upperBound..<line.next
            if line.content.isEmpty, !isFirst {
                out.append(ending, of: bytes)
                break
            }
            if isFirst {
                appendStartLine(bytes, line.content, to: &out)
                isFirst = false
            } else {
                let field = TraceField(bytes, line.content)
                if field.kind == .contentType { contentType = field.value }
                append(field, line.content, bytes, to: &out)
            }
            out.append(ending, of: bytes)
        }
        appendBody(bytes, position..<bytes.count, contentType, to: &out)
        hideSecrets(in: &out, from: start)
    }

    /// A short text, such as a summary, as the reader may see it.
    func text(_ bytes: [UInt8]) -> String {
        var shown = exposure == .full ? bytes : NumberMask.masked(bytes[...], keepsEnds: exposure == .masked)
        hideSecrets(in: &shown, from: 0)
        return String(decoding: shown, as: UTF8.self)
    }

    /// A Call-ID as the reader may see it.
    func callID(_ bytes: ArraySlice<UInt8>) -> String {
        var shown: [UInt8] = []
        appendCallID(bytes, to: &shown)
        return String(decoding: shown, as: UTF8.self)
    }

    /// Appends a Call-ID as the reader may see it.
    func appendCallID(_ bytes: ArraySlice<UInt8>, to out: inout [UInt8]) {
        let start = out.count
        switch callIDs {
        case .named(let secret): return out.append(contentsOf: WithheldCallID.name(of: bytes, secret))
        case .asReceived, .masked: bytes.withUnsafeBufferPointer { out.append(contentsOf: $0) }
        }
        if case .masked = callIDs { NumberMask.mask(&out, from: start, keepsEnds: false) }
        hideSecrets(in: &out, from: start)
    }

    /// Appends the value of a Call-ID field; blanks and folds around it stay.
    private func appendCallID(_ bytes: Span<UInt8>, _ value: Range<Int>, to out: inout [UInt8]) {
        var (start, end) = (value.lowerBound, value.upperBound)
        while start < end, bytes[start] <= 32 { start += 1 }
        while end > start, bytes[end - 1] <= 32 { end -= 1 }
        out.append(value.lowerBound..<start, of: bytes)
        var callID: [UInt8] = []
        callID.append(start..<end, of: bytes)
        appendCallID(callID[...], to: &out)
        out.append(end..<value.upperBound, of: bytes)
    }

    // MARK: Lines

    /// A line up to its CR or LF, with the folded lines behind it (RFC 3261 §7.3.1).
    private static func line(
        in bytes: Span<UInt8>, at start: Int, folded: Bool
    ) -> (content: Range<Int>, next: Int) {
        var end = start
        while true {
            while end < bytes.count, bytes[end] != 13, bytes[end] != 10 { end += 1 }
            var next = end
            if next < bytes.count, bytes[next] == 13 { next += 1 }
            if next < bytes.count, bytes[next] == 10 { next += 1 }
            guard folded, end > start, next < bytes.count, bytes[next] == 32 || bytes[next] == 9 else {
                return (start..<end, next)
            }
            end = next
        }
    }

    private func appendStartLine(_ bytes: Span<UInt8>, _ line: Range<Int>, to out: inout [UInt8]) {
        if exposure == .full { return out.append(line, of: bytes) }
        if Self.has(bytes, line, "SIP/2.0 ", at: line.lowerBound) {
            let status = min(line.lowerBound + 12, line.upperBound)
            out.append(line.lowerBound..<status, of: bytes)
            return appendMasked(bytes, status..<line.upperBound, keepsEnds: exposure == .masked, to: &out)
        }
        if exposure == .masked { return appendMasked(bytes, line, keepsEnds: true, to: &out) }
        guard let end = Self.methodEnd(of: bytes, line) else { return out.append("***") }
        out.append(line.lowerBound..<end, of: bytes)
        out.append(" sip:***@anonymous.invalid SIP/2.0")
    }

    /// The end of the method of a request line: letters, and exactly two blanks in front of URI and version.
    private static func methodEnd(of bytes: Span<UInt8>, _ line: Range<Int>) -> Int? {
        var blanks: [Int] = []
        for position in line where bytes[position] == 32 {
            guard blanks.count < 2 else { return nil }
            blanks.append(position)
        }
        guard blanks.count == 2, line.upperBound - blanks[1] == 8,
            has(bytes, line, "SIP/2.0", at: blanks[1] + 1)
        else { return nil }
        for position in line.lowerBound..<blanks[0] where !(97...122).contains(bytes[position] | 0x20) { return nil }
        return blanks[0]
    }

    /// Whether a text is at a position of a line.
    private static func has(_ bytes: Span<UInt8>, _ line: Range<Int>, _ text: StaticString, at start: Int) -> Bool {
        guard start + text.utf8CodeUnitCount <= line.upperBound else { return false }
        return text.withUTF8Buffer { text in
            for position in text.indices where bytes[start + position] != text[position] { return false }
            return true
        }
    }

    private func append(_ field: TraceField, _ line: Range<Int>, _ bytes: Span<UInt8>, to out: inout [UInt8]) {
        let name = line.lowerBound..<field.value.lowerBound
        switch (field.kind, exposure) {
        case (.credentials, _), (.identity, .masked), (.identity, .withheld), (.other, .withheld):
            out.append(name, of: bytes)
            out.append("***")
        case (.callID, .withheld):
            out.append(name, of: bytes)
            appendCallID(bytes, field.value, to: &out)
        case (_, .full), (.opaque, _), (.callID, _), (.contentType, _): out.append(line, of: bytes)
        case (.via, _):
            out.append(name, of: bytes)
            Self.append(bytes, field.value, without: ";hf=", to: &out)
        case (.route, _), (.harmless, _):
            out.append(name, of: bytes)
            let start = out.count
            Self.append(bytes, field.value, without: ";hd=", to: &out)
            NumberMask.mask(&out, from: start, keepsEnds: exposure == .masked)
        case (.tagged, .withheld):
            out.append(name, of: bytes)
            out.append("<sip:***@anonymous.invalid>")
            out.append(TraceField.splitTag(bytes, field.value).tag, of: bytes)
        case (.tagged, .masked), (.other, .masked):
            let parts = TraceField.splitTag(bytes, field.value)
            out.append(name, of: bytes)
            appendMasked(bytes, parts.value, keepsEnds: true, to: &out)
            out.append(parts.tag, of: bytes)
            appendMasked(bytes, parts.rest, keepsEnds: true, to: &out)
        }
    }

    /// Appends a value with stars in place of a parameter's value.
    ///
    /// In a route it is Herald's cookie, which has the caller's number in hexadecimal digits. In a Via it is the received
    /// From, which a gateway of a cluster writes into it.
    ///
    /// - Parameter parameter: semicolon, name and equals sign.
    private static func append(
        _ bytes: Span<UInt8>, _ value: Range<Int>, without parameter: StaticString, to out: inout [UInt8]
    ) {
        var start = value.lowerBound
        var position = start
        while position < value.upperBound {
            guard bytes[position] == UInt8(ascii: ";"), has(bytes, value, parameter, at: position) else {
                position += 1
                continue
            }
            position += parameter.utf8CodeUnitCount
            out.append(start..<position, of: bytes)
            out.append("***")
            while position < value.upperBound, TraceField.isTokenByte(bytes[position]) { position += 1 }
            start = position
        }
        out.append(start..<value.upperBound, of: bytes)
    }

    private func appendMasked(_ bytes: Span<UInt8>, _ part: Range<Int>, keepsEnds: Bool, to out: inout [UInt8]) {
        let start = out.count
        out.append(part, of: bytes)
        NumberMask.mask(&out, from: start, keepsEnds: keepsEnds)
    }

    // MARK: Body

    private func appendBody(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ contentType: Range<Int>, to out: inout [UInt8]
    ) {
        guard exposure != .full, !body.isEmpty else { return out.append(body, of: bytes) }
        let type = "application/sdp"
        let isSDP =
            contentType.count >= type.utf8.count
            && zip(contentType, type.utf8).allSatisfy {
                let byte = bytes[$0]
                return ((65...90).contains(byte) ? byte | 0x20 : byte) == $1
            }
        guard isSDP else { return appendHidden(bytes, body, to: &out) }
        var start = body.lowerBound
        while start < body.upperBound {
            var end = start
            while end < body.upperBound, bytes[end] != 10 { end += 1 }
            end = min(end + 1, body.upperBound)
            appendDescription(bytes, start..<end, to: &out)
            start = end
        }
    }

    /// A text with masked numbers; for a withheld call an asterisk for every character.
    private func appendHidden(_ bytes: Span<UInt8>, _ text: Range<Int>, to out: inout [UInt8]) {
        if exposure == .masked { return appendMasked(bytes, text, keepsEnds: true, to: &out) }
        for position in text {
            let byte = bytes[position]
            out.append(byte == 13 || byte == 10 ? byte : UInt8(ascii: "*"))
        }
    }

    /// A line of a session description, with its length: texts and user names may name a person (RFC 8866 §5).
    private func appendDescription(_ bytes: Span<UInt8>, _ line: Range<Int>, to out: inout [UInt8]) {
        guard line.count > 2, bytes[line.lowerBound + 1] == UInt8(ascii: "=") else {
            return appendHidden(bytes, line, to: &out)
        }
        let text = line.lowerBound + 2
        switch bytes[line.lowerBound] {
        case UInt8(ascii: "v"), UInt8(ascii: "t"), UInt8(ascii: "m"), UInt8(ascii: "c"), UInt8(ascii: "b"):
            out.append(line, of: bytes)
        case UInt8(ascii: "o"):
            // The user name alone; the numbers behind it are the session's.
            var end = text
            while end < line.upperBound, bytes[end] != 32 { end += 1 }
            out.append(line.lowerBound..<text, of: bytes)
            if exposure == .masked {
                appendMasked(bytes, text..<end, keepsEnds: true, to: &out)
            } else {
                out.append(contentsOf: repeatElement(UInt8(ascii: "*"), count: end - text))
            }
            out.append(end..<line.upperBound, of: bytes)
        case UInt8(ascii: "a"):
            if exposure == .masked { return out.append(line, of: bytes) }
            appendMasked(bytes, line, keepsEnds: false, to: &out)
        default:
            if exposure == .masked { return appendMasked(bytes, line, keepsEnds: true, to: &out) }
            out.append(line.lowerBound..<text, of: bytes)
            appendHidden(bytes, text..<line.upperBound, to: &out)
        }
    }

    // MARK: Withheld numbers

    /// The digits by which a withheld number is found: its last seven, or all of a shorter one.
    private static func ending(_ user: [UInt8]) -> [UInt8]? {
        let digits = user.filter { NumberMask.isDigit($0) }
        return digits.count >= 5 ? Array(digits.suffix(7)) : nil
    }

    /// The last defence: a withheld number in a field that should not have it, such as the Call-ID.
    ///
    /// Hides every run of digits that contains one.
    private func hideSecrets(in out: inout [UInt8], from position: Int) {
        guard !secrets.isEmpty else { return }
        var bytes = out.mutableSpan
        var start = position
        while start < bytes.count {
            var end = start
            while end < bytes.count, NumberMask.isDigit(bytes[end]) { end += 1 }
            if end - start >= 5, secrets.contains(where: { Self.contains(bytes, start..<end, $0) }) {
                for place in start..<end { bytes[place] = UInt8(ascii: "*") }
            }
            start = end + 1
        }
    }

    private static func contains(
        _ bytes: borrowing MutableSpan<UInt8>, _ run: Range<Int>, _ secret: [UInt8]
    ) -> Bool {
        guard run.count >= secret.count else { return false }
        for start in run.lowerBound...(run.upperBound - secret.count) {
            var length = 0
            while length < secret.count, bytes[start + length] == secret[length] { length += 1 }
            if length == secret.count { return true }
        }
        return false
    }
}
