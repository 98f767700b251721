// SPDX-License-Identifier: Apache-2.0

/// One Via value with the positions of its parts (RFC 3261 §20.42, RFC 3581 §3).
public struct ViaValue: Hashable, Sendable {
    private let whole: ByteRange
    private let sentByHost: ByteRange
    private var branchValue: ByteRange?
    private var receivedValue: ByteRange?
    private var rportValue: ByteRange?

    /// The sent-by port, nil when not written.
    public let port: UInt16?
    /// The whole value.
    public var extent: Range<Int> { whole.range }
    /// The sent-by host, IPv6 with its brackets.
    public var host: Range<Int> { sentByHost.range }
    /// The branch parameter's value, nil when missing.
    public var branch: Range<Int>? { branchValue?.range }
    /// The received parameter's value.
    public var received: Range<Int>? { receivedValue?.range }
    /// The rport parameter's value: empty when only asked for, nil when missing.
    public var rport: Range<Int>? { rportValue?.range }

    /// The second Via value, to which a response goes on; nil when there is only one or it cannot be read.
    public static func second(of message: SIPMessage) -> ViaValue? {
        var seen = 0
        for field in message.fields(.via) {
            for range in HeaderValues(message.bytes, field.value) {
                seen += 1
                if seen == 2 { return ViaValue(message.bytes, range) }
            }
        }
        return nil
    }

    /// The transport of the hop; nil for one that Herald does not support.
    public func transport(in message: SIPMessage) -> SIPTransportKind? {
        let received = message.bytes
        let bytes = received.span
        let end = bytes.firstIndex(of: UInt8(ascii: ";"), in: extent) ?? extent.upperBound
        guard let first = bytes.firstIndex(of: UInt8(ascii: "/"), in: extent.lowerBound..<end),
            let second = bytes.firstIndex(of: UInt8(ascii: "/"), in: (first + 1)..<end)
        else { return nil }
        let rest = LWS.trimmed(bytes, (second + 1)..<end)
        let tokenEnd = bytes.position(in: rest) { $0.blankMarks }
        return SIPTransportKind(bytes.bytes.extracting(rest.lowerBound..<tokenEnd))
    }

    /// Reads `SIP/2.0/UDP host:port;parameters`, white space allowed around the slashes; nil when malformed.
    public init?(_ bytes: [UInt8], _ range: Range<Int>) { self.init(bytes.span, range) }

    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        let semicolon = bytes.firstIndex(of: UInt8(ascii: ";"), in: range) ?? range.upperBound
        let head = LWS.trimmedEnd(bytes, range.lowerBound..<semicolon)
        guard let firstSlash = bytes.firstIndex(of: UInt8(ascii: "/"), in: head),
            let secondSlash = bytes.firstIndex(of: UInt8(ascii: "/"), in: (firstSlash + 1)..<head.upperBound),
            let (host, port) = Self.sentBy(bytes, (secondSlash + 1)..<head.upperBound)
        else { return nil }
        whole = ByteRange(range)
        sentByHost = ByteRange(host)
        self.port = port
        var position = semicolon
        while let parameter = HeaderParameters.next(in: bytes, from: &position, to: range.upperBound) {
            let (name, value) = (bytes.bytes.extracting(parameter.name), ByteRange(parameter.value))
            if rportValue == nil, name.matches("rport") {
                rportValue = value
            } else if branchValue == nil, name.matches("branch") {
                branchValue = value
            } else if receivedValue == nil, name.matches("received") {
                receivedValue = value
            }
        }
    }

    /// Host and port behind the transport token, in a range with no white space at its end.
    private static func sentBy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> (host: Range<Int>, port: UInt16?)? {
        let end = range.upperBound
        let transport = LWS.skipped(bytes, range)
        let blank = bytes.position(in: transport..<end) { $0.blankMarks }
        let start = LWS.skipped(bytes, blank..<end)
        guard start < end else { return nil }
        var hostEnd = start
        if bytes[start] == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]"), in: start..<end) else { return nil }
            hostEnd = close + 1
        } else {
            hostEnd = bytes.position(in: start..<end) { $0.blankMarks | $0.marks(UInt8(ascii: ":")) }
        }
        guard hostEnd > start else { return nil }
        let (host, colon) = (start..<hostEnd, LWS.skipped(bytes, hostEnd..<end))
        if colon == end { return (host, nil) }
        guard bytes[colon] == UInt8(ascii: ":"),
            let number = DecimalNumber.read(bytes, LWS.skipped(bytes, (colon + 1)..<end)..<end),
            let port = UInt16(exactly: number)
        else { return nil }
        // Cores that hide their topology write 0. Nothing can be sent there, so it counts as no port.
        return (host, port == 0 ? nil : port)
    }
}

extension SIPMessage {
    /// True if a Via value fits; `fits` gets the values from the top, and nil for an unreadable one.
    public func anyVia(_ fits: (ViaValue?) -> Bool) -> Bool {
        if let top = topVia?.value, !hasSecondVia { return fits(top) }
        for field in fields(.via) {
            var isEmpty = true
            var start = field.value.lowerBound
            // The topmost one has been read already.
            if let top = topVia, top.field.start == field.start {
                if fits(top.value) { return true }
                isEmpty = false
                start = min(top.value.extent.upperBound + 1, field.value.upperBound)
            }
            for value in HeaderValues(bytes, start..<field.value.upperBound) {
                isEmpty = false
                if fits(ViaValue(bytes, value)) { return true }
            }
            if isEmpty, fits(nil) { return true }
        }
        return false
    }
}
