// SPDX-License-Identifier: Apache-2.0

/// A request that must not be forwarded and the response it gets instead.
public struct FailureResponse: Error, Sendable {
    /// Status code, 4xx to 6xx.
    public let status: Int
    /// Reason phrase.
    public let phrase: StaticString
    /// A header field to add to the response.
    public let field: ResponseField?

    public init(_ status: Int, _ phrase: StaticString, _ field: ResponseField? = nil) {
        self.status = status
        self.phrase = phrase
        self.field = field
    }
}

/// The checks of a request before it is forwarded (RFC 3261 §16.3), and those of every request (§8.1.1).
///
/// Receivers disagree about malformed header lines, so a header field could pass the proxy unseen in one. Such a line
/// has no colon, no name, a blank in its name, a bare CR, a NUL, or a name that is no token, such as `X-[Foo]` (§25.1).
/// One rule holds for all of them. A request gets 400 if Via, From, To, Call-ID and CSeq can be read and do not have
/// the fault (`MalformedRequest`); otherwise it is dropped and counted. An empty tag and a second tag parameter get 400
/// too: the receiver could read the other one, and see a new call in a dialog. The host of a Request-URI is checked as
/// well: `sip:2001:db8::10` gets 400 (RFC 5118 §4.2).
///
/// A response with a line that cannot be separated is dropped and counted. A response with a name that is no token
/// passes. Nothing hides in it, and dropping it would cost the call.
public enum RequestValidity {
    /// The first rule a request breaks that is to be forwarded, or nil.
    public static func refusal(of message: SIPMessage) -> FailureResponse? {
        formRefusal(of: message) ?? forwardingRefusal(of: message)
    }

    /// The first rule of every request that this one breaks, be it forwarded or handled here; nil for a sound one.
    public static func formRefusal(of message: SIPMessage) -> FailureResponse? {
        guard case .request(_, let token, _) = message.startLine else { return nil }
        return version(message) ?? names(message) ?? mandatoryFields(message) ?? sequence(message, token: token)
            ?? body(message)
    }

    /// The first rule a request breaks of those for forwarding alone (RFC 3261 §16.3 steps 2, 3 and 5), or nil.
    public static func forwardingRefusal(of message: SIPMessage) -> FailureResponse? {
        guard case .request(_, _, let uri) = message.startLine else { return nil }
        return scheme(message, uri) ?? maxForwards(message) ?? proxyRequire(message)
    }

    /// Whether a request has all that a response repeats (RFC 3261 §8.2.6.2), be it valid or not.
    public static func allowsResponse(_ message: SIPMessage) -> Bool {
        message.topVia != nil && message.has(.from) && message.has(.to) && message.has(.callID)
            && message.sequence != nil
    }

    /// RFC 3261 §21.5.6: a version that is not 2.0 is refused; §25.1: nothing follows it on its line.
    private static func version(_ message: SIPMessage) -> FailureResponse? {
        let start = message.requestURI.upperBound + 1
        let bytes = message.bytes
        let lineEnd = bytes.span.position(in: start..<bytes.count) { $0.marks(13) | $0.marks(10) }
        let version = LWS.trimmedEnd(bytes, start..<lineEnd)
        guard bytes.span.matches(version, "SIP/2.0") else {
            return FailureResponse(505, "Version Not Supported")
        }
        return version.upperBound == lineEnd ? nil : FailureResponse(400, "Bad Request-Line")
    }

    /// RFC 3261 §25.1: the name of a header field is a token, as those are that Herald knows.
    private static func names(_ message: SIPMessage) -> FailureResponse? {
        let bytes = message.bytes
        for field in message.fields(.other) {
            if !Token.isWhole(bytes.span, field.start..<field.nameEnd) {
                return FailureResponse(400, "Bad Header Name")
            }
        }
        return nil
    }

    /// RFC 3261 §8.1.1: To, From, CSeq, Call-ID, Max-Forwards and Via; each but Via once (§7.3.1).
    ///
    /// A missing Max-Forwards is forgiven and added (§16.6 step 3).
    private static func mandatoryFields(_ message: SIPMessage) -> FailureResponse? {
        if message.repeats(.from) { return FailureResponse(400, "Repeated From") }
        if message.repeats(.to) { return FailureResponse(400, "Repeated To") }
        if message.repeats(.callID) { return FailureResponse(400, "Repeated Call-ID") }
        if message.repeats(.cseq) { return FailureResponse(400, "Repeated CSeq") }
        if message.repeats(.maxForwards) { return FailureResponse(400, "Repeated Max-Forwards") }
        if message.repeats(.contentLength) { return FailureResponse(400, "Repeated Content-Length") }
        if isEmpty(.from, in: message) { return FailureResponse(400, "Missing From") }
        if isEmpty(.to, in: message) { return FailureResponse(400, "Missing To") }
        if isEmpty(.callID, in: message) { return FailureResponse(400, "Missing Call-ID") }
        if isEmpty(.cseq, in: message) { return FailureResponse(400, "Missing CSeq") }
        guard let from = message.from, isAddress(message, from) else { return FailureResponse(400, "Bad From") }
        guard let to = message.to, isAddress(message, to) else { return FailureResponse(400, "Bad To") }
        guard isTag(message.fromTag, message, from) else { return FailureResponse(400, "Bad From") }
        guard isTag(message.toTag, message, to) else { return FailureResponse(400, "Bad To") }
        return vias(message)
    }

    /// Whether a tag is not empty (RFC 3261 §25.1) and occurs once (§7.3.1).
    ///
    /// With two tags one receiver takes the request for a new call, another for one in a dialog.
    private static func isTag(_ tag: Range<Int>?, _ message: SIPMessage, _ extent: NameAddressExtent) -> Bool {
        guard let tag else { return true }
        return !tag.isEmpty
            && HeaderParameters.find("tag", in: message.bytes, tag.upperBound..<extent.parameters.upperBound) == nil
    }

    private static func isEmpty(_ name: HeaderName, in message: SIPMessage) -> Bool {
        message.first(name)?.value.isEmpty ?? true
    }

    /// RFC 3261 §20.42: a Via at the least, and none that cannot be read: the response needs them for its way back.
    private static func vias(_ message: SIPMessage) -> FailureResponse? {
        message.topVia == nil || message.anyVia { $0 == nil } ? FailureResponse(400, "Bad Via") : nil
    }

    /// RFC 3261 §25.1: a URI with a scheme; a name may have a comma that is not quoted (RFC 4475 §3.1.2.15).
    ///
    /// Carriers write blanks into the user, as in `<sip:Restricted Number@carrier.example>`. A proxy does not route by From
    /// and To, so such a call goes on; the URI names nobody. Other blanks are refused (RFC 4475 §3.1.2.14).
    private static func isAddress(_ message: SIPMessage, _ extent: NameAddressExtent) -> Bool {
        let (bytes, uri) = (message.bytes, extent.uri)
        return bytes.contains(UInt8(ascii: ":"), in: uri)
            && (!bytes.contains(in: uri) { $0.blankMarks } || extent.hasBrackets && hasBlanksInUserAlone(bytes, uri))
            && closes(message, extent)
    }

    /// Whether no blank is outside the user, between the scheme and the host.
    private static func hasBlanksInUserAlone(_ bytes: [UInt8], _ uri: Range<Int>) -> Bool {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: uri),
            let at = bytes[uri].lastIndex(of: UInt8(ascii: "@")), at > colon
        else { return false }
        return !bytes.contains(in: uri.lowerBound..<(colon + 2)) { $0.blankMarks }
            && !bytes.contains(in: (at - 1)..<uri.upperBound) { $0.blankMarks }
    }

    /// A `<` without its `>` or a quote that never closes.
    private static func closes(_ message: SIPMessage, _ extent: NameAddressExtent) -> Bool {
        if extent.hasBrackets {
            let close = extent.uri.upperBound
            return close < message.bytes.count && message.bytes[close] == UInt8(ascii: ">")
        }
        return !message.bytes.contains(UInt8(ascii: "\""), in: extent.uri)
    }

    /// RFC 3261 §8.1.1.5: a number below 2^31 and the request's own method.
    private static func sequence(_ message: SIPMessage, token: Range<Int>) -> FailureResponse? {
        guard let sequence = message.sequence else { return FailureResponse(400, "Bad CSeq") }
        guard message[sequence.method] == message[token] else {
            return FailureResponse(400, "CSeq Method Mismatch")
        }
        return nil
    }

    /// Whether a response has its whole body, and one Content-Length (RFC 3261 §18.3: else it is discarded).
    public static func hasTrueLength(_ response: SIPMessage) -> Bool {
        !response.repeats(.contentLength) && body(response) == nil
    }

    /// RFC 3261 §18.3: a body shorter than Content-Length in a datagram gets 400.
    private static func body(_ message: SIPMessage) -> FailureResponse? {
        guard message.has(.contentLength) else { return nil }
        guard let length = message.contentLength else { return FailureResponse(400, "Bad Content-Length") }
        return message.bytes.count - message.bodyStart < length
            ? FailureResponse(400, "Body Shorter Than Content-Length") : nil
    }

    /// RFC 3261 §16.3 step 2: a scheme the proxy does not understand is refused; urn is what emergency calls use (RFC 5031).
    private static func scheme(_ message: SIPMessage, _ uri: Range<Int>) -> FailureResponse? {
        let bytes = message.bytes
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: uri), colon > uri.lowerBound,
            !bytes.contains(in: uri, { $0.blankMarks | $0.marks(UInt8(ascii: "<")) | $0.marks(UInt8(ascii: ">")) })
        else { return FailureResponse(400, "Bad Request-URI") }
        let scheme = uri.lowerBound..<colon
        if bytes.span.matches(scheme, "sip") || bytes.span.matches(scheme, "sips") {
            return HostPort.isWhole(bytes, (colon + 1)..<uri.upperBound) ? nil : FailureResponse(400, "Bad Request-URI")
        }
        if bytes.span.matches(scheme, "tel") || bytes.span.matches(scheme, "urn") { return nil }
        return FailureResponse(416, "Unsupported URI Scheme")
    }

    /// RFC 3261 §16.3 step 3: zero is refused with 483; a value that is no number with 400.
    private static func maxForwards(_ message: SIPMessage) -> FailureResponse? {
        guard let field = message.first(.maxForwards) else { return nil }
        guard let value = DecimalNumber.read(message.bytes, field.value), value <= mostForwards else {
            return FailureResponse(400, "Bad Max-Forwards")
        }
        return value == 0 ? FailureResponse(483, "Too Many Hops") : nil
    }

    /// RFC 3261 §16.3 step 5: an option in Proxy-Require that is unknown here is refused, and named in Unsupported.
    ///
    /// `privacy` is known (RFC 3323 §4.3): Herald honours Privacy. ACK and CANCEL pass (§20.29).
    private static func proxyRequire(_ message: SIPMessage) -> FailureResponse? {
        guard message.has(.proxyRequire), message.method != .ack, message.method != .cancel else { return nil }
        let unknown = message.requiredOfProxies.filter { !$0.equalsIgnoringCase("privacy") }
        guard !unknown.isEmpty else { return nil }
        let named = unknown.filter { !$0.isEmpty && $0.allSatisfy(Token.contains) }.prefix(mostNamedOptions)
        return FailureResponse(
            420, "Bad Extension", named.isEmpty ? nil : .unsupported(options: Array(named.joined(separator: [44, 32]))))
    }

    /// The largest Max-Forwards (RFC 3261 §20.22).
    public static let mostForwards = 255
    /// The largest number of CSeq (RFC 3261 §8.1.1.5).
    public static let largestSequence = DecimalNumber.largest
    /// Most unknown options that a 420 names.
    public static let mostNamedOptions = 8
}

extension SIPMessage {
    /// The option tags of Proxy-Require, in the order received (RFC 3261 §20.29).
    var requiredOfProxies: [ArraySlice<UInt8>] {
        fields(.proxyRequire).flatMap { field in HeaderValues(bytes, field.value).map { self[$0] } }
    }

    /// Whether the sender requires a privacy service of the proxies (RFC 3323 §4.3).
    public var requiresPrivacyOfProxies: Bool {
        has(.proxyRequire) && requiredOfProxies.contains { $0.equalsIgnoringCase("privacy") }
    }
}
