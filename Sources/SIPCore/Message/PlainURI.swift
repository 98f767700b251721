// SPDX-License-Identifier: Apache-2.0

/// A reader of plain URIs and parameters; libosip2 reads all others.
///
/// Nearly every URI in traffic is plain: letters, digits and a few marks, without escape, password, bracket or header.
/// libosip2 takes seven allocations for one, and 13 % of a call's CPU. Tests compare both readers over the corpora, by
/// made-up URIs and by fuzzing. Only the parts of the result are allocated.
enum PlainURI {
    /// The parts of a sip, sips or tel URI, as extents of what was read; of a tel URI the number is the user.
    struct Parts {
        var scheme: SIPURI.Scheme
        var user: Range<Int>
        var userParameters: Range<Int>
        var host: Range<Int>
        var port: UInt16?
        var parameters: Range<Int>
    }

    /// Reads `sip:user;parameters@host:port;parameters` or `tel:number;parameters` in `bytes[range]`; nil for whatever is
    /// not plain.
    static func read(_ bytes: [UInt8], _ range: Range<Int>) -> Parts? {
        guard range.count <= OSIPGrammar.longestText, let (start, scheme) = scheme(bytes, range) else { return nil }
        return scheme == .tel
            ? telephone(bytes, start..<range.upperBound) : addressed(scheme, bytes, start..<range.upperBound)
    }

    private static func telephone(_ bytes: [UInt8], _ range: Range<Int>) -> Parts? {
        let (start, end) = (range.lowerBound, range.upperBound)
        let numberEnd = markEnd(bytes, start, end)
        guard numberEnd > start, parameters(bytes, from: numberEnd, to: end) == end else { return nil }
        return Parts(
            scheme: .tel, user: start..<numberEnd, userParameters: numberEnd..<end, host: end..<end, port: nil,
            parameters: end..<end)
    }

    private static func addressed(_ scheme: SIPURI.Scheme, _ bytes: [UInt8], _ range: Range<Int>) -> Parts? {
        let (start, end) = (range.lowerBound, range.upperBound)
        let userEnd = markEnd(bytes, start, end)
        var position = userEnd
        if position < end, bytes[position] == UInt8(ascii: ";") {
            guard let next = parameters(bytes, from: position, to: end) else { return nil }
            position = next
        }
        var parts = Parts(
            scheme: scheme, user: start..<start, userParameters: start..<start, host: start..<userEnd, port: nil,
            parameters: end..<end)
        if position < end, bytes[position] == UInt8(ascii: "@") {
            guard userEnd > start else { return nil }
            parts.user = start..<userEnd
            parts.userParameters = userEnd..<position
            position += 1
            let hostStart = position
            position = hostEnd(bytes, hostStart, end)
            parts.host = hostStart..<position
        } else {
            position = userEnd
            guard hostEnd(bytes, start, userEnd) == userEnd else { return nil }
        }
        guard !parts.host.isEmpty else { return nil }
        if position < end, bytes[position] == UInt8(ascii: ":") {
            let digits = position + 1
            position = digits
            var number = 0
            while position < end, position - digits < 5, isDigit(bytes[position]) {
                number = number * 10 + Int(bytes[position] - UInt8(ascii: "0"))
                position += 1
            }
            guard position > digits, let port = UInt16(exactly: number), port > 0 else { return nil }
            parts.port = port
        }
        parts.parameters = position..<end
        guard position == end || parameters(bytes, from: position, to: end) == end else { return nil }
        return parts
    }

    /// Reads the URI of `<uri>;name=value…`, a well-formed From; nil unless it and the parameters are plain.
    static func address(_ bytes: [UInt8], _ range: Range<Int>) -> Parts? {
        guard !range.isEmpty, bytes[range.lowerBound] == UInt8(ascii: "<"),
            let close = bytes.firstIndex(of: UInt8(ascii: ">"), in: range)
        else { return nil }
        let end = range.upperBound
        guard close + 1 == end || parameters(bytes, from: close + 1, to: end) == end else { return nil }
        return read(bytes, (range.lowerBound + 1)..<close)
    }

    /// Where a run of `;name` and `;name=value` ends; nil when a name or value is empty or there are too many.
    private static func parameters(_ bytes: [UInt8], from start: Int, to end: Int) -> Int? {
        guard start < end, bytes[start] == UInt8(ascii: ";") else { return start }
        var (textStart, isName, count) = (start + 1, true, 1)
        var runEnd: Int? = end
        bytes.span.eachPosition(in: textStart..<end, otherMarks) { position in
            let sign = bytes[position]
            if position == textStart {
                runEnd = nil
            } else if sign == UInt8(ascii: ";"), count < OSIPGrammar.mostSeparators / 2 {
                (textStart, isName, count) = (position + 1, true, count + 1)
                return true
            } else if sign == UInt8(ascii: "="), isName {
                (textStart, isName) = (position + 1, false)
                return true
            } else {
                runEnd = sign == UInt8(ascii: ";") ? nil : position
            }
            return false
        }
        return textStart < end ? runEnd : nil
    }

    private static func scheme(_ bytes: [UInt8], _ range: Range<Int>) -> (end: Int, scheme: SIPURI.Scheme)? {
        let start = range.lowerBound
        guard range.count > 5 else { return nil }
        let letters = (bytes[start] | 0x20, bytes[start + 1] | 0x20, bytes[start + 2] | 0x20)
        let isAddress = letters == (UInt8(ascii: "s"), UInt8(ascii: "i"), UInt8(ascii: "p"))
        guard isAddress || letters == (UInt8(ascii: "t"), UInt8(ascii: "e"), UInt8(ascii: "l")) else { return nil }
        if bytes[start + 3] == UInt8(ascii: ":") { return (start + 4, isAddress ? .sip : .tel) }
        let isSecure =
            isAddress && bytes[start + 3] | 0x20 == UInt8(ascii: "s") && bytes[start + 4] == UInt8(ascii: ":")
        return isSecure ? (start + 5, .sips) : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Where a run of characters of a host name or IPv4 address ends.
    @inline(never)
    private static func hostEnd(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        bytes.span.position(in: start..<end) {
            !($0.digitMarks | $0.letterMarks | $0.marks(2, from: UInt8(ascii: "-")))
        }
    }

    /// Where a run of characters ends that `otherMarks` does not mark.
    @inline(never)
    private static func markEnd(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        bytes.span.position(in: start..<end, otherMarks)
    }

    /// Marks what is not unreserved in every place of a URI (RFC 3261 §25.1), nor the plus sign of numbers: all but
    /// `+ - . _`, digits and letters.
    @inline(__always)
    private static func otherMarks(_ bytes: SixteenBytes) -> SixteenBytes.Marks {
        !(bytes.digitMarks | bytes.letterMarks | bytes.marks(2, from: UInt8(ascii: "-"))
            | bytes.marks(UInt8(ascii: "+")) | bytes.marks(UInt8(ascii: "_")))
    }
}
