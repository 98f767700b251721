// SPDX-License-Identifier: Apache-2.0

import COsip2

/// A sip, sips or tel URI taken apart, by libosip2 where it is not a plain one (RFC 3261 §19.1, RFC 3966 §3).
///
/// Its parts lie in the text it was read from, which it keeps; reading a plain one allocates nothing.
public struct SIPURI: Sendable {
    public enum Scheme: Hashable, Sendable { case sip, sips, tel }

    public let scheme: Scheme
    /// Port, nil when not written.
    public let port: UInt16?
    private let text: [UInt8]
    private let userExtent: ByteRange
    private let userParametersExtent: ByteRange
    private let hostExtent: ByteRange
    private let parametersExtent: ByteRange

    /// The user of a sip URI without its parameters, or the number of a tel URI; as written, escapes included.
    public var user: ArraySlice<UInt8> { text[userExtent.range] }
    /// Host name or address literal, IPv6 without brackets; empty for tel.
    public var host: ArraySlice<UInt8> { text[hostExtent.range] }
    /// Parameters of the user part or of the tel URI: `;phone-context=…;verstat=…`, from the first semicolon on.
    public var userParameters: ArraySlice<UInt8> { text[userParametersExtent.range] }
    /// Parameters of the URI itself: `;lr;transport=udp`.
    public var parameters: ArraySlice<UInt8> { text[parametersExtent.range] }

    /// Parses the URI in `bytes[range]`, all of them by default.
    ///
    /// Nil when libosip2 rejects it, when it is too long, or for another scheme. Also nil with a bracket, a blank or a control
    /// character, which no URI has (RFC 3261 §25.1). A line end would become a header line where the URI is written again.
    public init?(_ bytes: [UInt8], _ range: Range<Int>? = nil) {
        let range = range ?? bytes.indices
        if let parts = PlainURI.read(bytes, range) {
            self.init(parts, of: bytes)
        } else {
            self.init(grammar: bytes[range])
        }
    }

    /// Takes parts that were read in `bytes`.
    init(_ parts: PlainURI.Parts, of bytes: [UInt8]) {
        scheme = parts.scheme
        port = parts.port
        text = bytes
        userExtent = ByteRange(parts.user)
        userParametersExtent = ByteRange(parts.userParameters)
        hostExtent = ByteRange(parts.host)
        parametersExtent = ByteRange(parts.parameters)
    }

    /// The same, always through libosip2.
    public init?(grammar bytes: ArraySlice<UInt8>) {
        guard let parsed = Self.parse(bytes) else { return nil }
        self = parsed
    }

    /// A text of its own for parts that libosip2 gave as copies.
    private init(
        scheme: Scheme, user: ArraySlice<UInt8>, host: [UInt8], port: UInt16?, userParameters: ArraySlice<UInt8>,
        parameters: ArraySlice<UInt8>
    ) {
        self.scheme = scheme
        self.port = port
        var text: [UInt8] = []
        func add(_ part: some Collection<UInt8>) -> ByteRange {
            let start = text.count
            text.append(contentsOf: part)
            return ByteRange(start..<text.count)
        }
        userExtent = add(user)
        userParametersExtent = add(userParameters)
        hostExtent = add(host)
        parametersExtent = add(parameters)
        self.text = text
    }

    /// The user with its escapes resolved.
    public var unescapedUser: ArraySlice<UInt8> { PercentEscape.resolved(user) }

    /// The value of a parameter of the user part or tel number, nil where there is none.
    public func userParameter(_ name: StaticString) -> ArraySlice<UInt8>? {
        HeaderParameters.find(name, in: text, userParametersExtent.range).map { text[$0] }
    }

    /// The value of a URI parameter, empty for a flag, nil where there is none.
    public func parameter(_ name: StaticString) -> ArraySlice<UInt8>? {
        HeaderParameters.find(name, in: text, parametersExtent.range).map { text[$0] }
    }

    private static func parse(_ bytes: ArraySlice<UInt8>) -> SIPURI? {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }) else {
            return nil
        }
        return OSIPGrammar.withText(bytes) { text in
            var uri: UnsafeMutablePointer<osip_uri_t>?
            guard osip_uri_init(&uri) == 0, let uri else { return nil }
            defer { osip_uri_free(uri) }
            guard osip_uri_parse(uri, text) == 0, let scheme = scheme(uri.pointee.scheme) else { return nil }
            // libosip2 does not split tel URIs: all of the number is in `string`.
            if scheme == .tel { return telephone(bytes) }
            // If a bracket never closes, libosip2 takes the text before the next colon for the host.
            guard let host = OSIPGrammar.bytes(uri.pointee.host), !host.isEmpty, !host.contains(UInt8(ascii: "["))
            else { return nil }
            return addressed(scheme, host, OSIPGrammar.bytes(uri.pointee.port), bytes)
        }
    }

    private static func addressed(
        _ scheme: Scheme, _ host: [UInt8], _ portText: [UInt8]?, _ bytes: ArraySlice<UInt8>
    ) -> SIPURI? {
        var port: UInt16?
        if let portText {
            guard let number = DecimalNumber.read(portText, 0..<portText.count), let valid = UInt16(exactly: number),
                valid > 0
            else { return nil }
            port = valid
        }
        // libosip2 unescapes user and parameters; the number must be compared as written, so both are cut from the text.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = bytes[(colon + 1)...]
        // An at sign occurs once, between user and host (§25.1). With two the number is uncertain.
        let at = rest.firstIndex(of: UInt8(ascii: "@"))
        if let at, rest[(at + 1)...].contains(UInt8(ascii: "@")) { return nil }
        let userPart = at.map { rest[..<$0] } ?? rest[..<rest.startIndex]
        // A quote in a user opens a string for whoever reads the list it is in. Parameters have quotes in practice.
        if userPart.contains(UInt8(ascii: "\"")) { return nil }
        let userEnd = userPart.firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ":") } ?? userPart.endIndex
        let semicolon = userPart.firstIndex(of: UInt8(ascii: ";")) ?? userPart.endIndex
        let hostPart = at.map { rest[($0 + 1)...] } ?? rest
        let headers = hostPart.firstIndex(of: UInt8(ascii: "?")) ?? hostPart.endIndex
        let parameters = hostPart[..<headers].firstIndex(of: UInt8(ascii: ";")) ?? headers
        return SIPURI(
            scheme: scheme, user: userPart[..<userEnd], host: host, port: port,
            userParameters: userPart[semicolon...], parameters: hostPart[parameters..<headers])
    }

    private static func telephone(_ bytes: ArraySlice<UInt8>) -> SIPURI? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let number = bytes[(colon + 1)...]
        let semicolon = number.firstIndex(of: UInt8(ascii: ";")) ?? number.endIndex
        guard semicolon > number.startIndex else { return nil }
        return SIPURI(
            scheme: .tel, user: number[..<semicolon], host: [], port: nil, userParameters: number[semicolon...],
            parameters: [])
    }

    private static func scheme(_ text: UnsafePointer<CChar>?) -> Scheme? {
        guard let bytes = OSIPGrammar.bytes(text) else { return nil }
        if bytes[...].equalsIgnoringCase("sip") { return .sip }
        if bytes[...].equalsIgnoringCase("sips") { return .sips }
        if bytes[...].equalsIgnoringCase("tel") { return .tel }
        return nil
    }
}

extension SIPURI: Equatable {
    /// The same parts, wherever they were read from; not the comparison of RFC 3261 §19.1.4.
    public static func == (left: SIPURI, right: SIPURI) -> Bool {
        left.scheme == right.scheme && left.port == right.port && left.user == right.user && left.host == right.host
            && left.userParameters == right.userParameters && left.parameters == right.parameters
    }
}
