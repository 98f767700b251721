// SPDX-License-Identifier: Apache-2.0

/// The extensions of PASSporT that count. A token of another one is ignored (RFC 8224 §6.2 step 1).
enum PassportType: Equatable, Sendable {
    case base, shaken, rcd, div, divO

    /// The type of a parameter, which has no case of letters; nil for an unknown one.
    init?(_ parameter: Span<UInt8>) {
        guard let type = Self.named.first(where: { parameter.equals($0.name) })?.type else { return nil }
        self = type
    }

    /// The type of a member of a token header, which has a case of letters; nil for an unknown one (RFC 7515 §4).
    init?(_ header: StrictJSON, at ppt: Int) {
        guard let type = Self.named.first(where: { header.isText(at: ppt, $0.name) })?.type else { return nil }
        self = type
    }

    private static var named: [(name: StaticString, type: PassportType)] {
        [("shaken", .shaken), ("div", .div), ("rcd", .rcd), ("div-o", .divO)]
    }
}

/// One token that fits the rules of its form (RFC 8225). Nothing in it is proven.
struct Passport: Sendable {
    let type: PassportType
    /// The token as received, or the full form of a compact one.
    let token: [UInt8]
    /// The count of bytes that the signature covers: header and payload.
    let signedCount: Int
    let signature: [UInt8]
    let claims: PassportClaims
    /// The address of the certificate.
    let address: String?
    /// The chain that the token brings, as base64 texts, leaf first.
    let chain: [String]?
    /// Whether the token brings a chain that is none.
    let hasBrokenChain: Bool
}

/// Reads tokens: form, JSON, members, address and claims, in the order of their cost.
struct PassportReader {
    static let mostTokenBytes = 12_000
    static let mostJSONBytes = 6 * 1024
    static let signatureBytes = 64
    static let mostCertificates = 6

    let policy: TrunkTrustPolicy
    let call: SignedCall

    private var regime: TrustRegime { policy.regimes[0] }

    /// The token of a header field; throws the cause for which it does not count.
    func read(_ value: IdentityValue, of field: [UInt8]) throws(TrustCause) -> Passport {
        let bytes = field.span
        var expected: PassportType = .base
        if let ppt = value.ppt {
            guard let type = PassportType(bytes.extracting(ppt)) else { throw .unsupportedPPT }
            expected = type
        }
        guard value.token.count <= Self.mostTokenBytes else { throw .oversize }
        guard value.isSound else { throw .malformed }
        var token = Array(field[value.token])
        if token.first == UInt8(ascii: ".") { token = try full(token, value, of: field) }
        let parts = try TokenParts(token)
        let (header, type) = try parts.header()
        let signature = try parts.signature()
        guard let info = value.info else { throw .infoMissing }
        let members = try HeaderMembers(header, allowsX5C: policy.regimes.contains(where: \.allowsX5C))
        if value.ppt != nil, type == .base { throw .headerIncomplete }
        guard type == expected else { throw .pptMismatch }
        try members.check()
        if let alg = value.alg {
            guard bytes.extracting(alg).equals("es256") else { throw .alg }
        } else if regime.parameters == .strict {
            throw .alg
        }
        if let address = members.address {
            guard bytes.extracting(info).equals(Array(address.utf8).span) else { throw .infoMismatch }
        }
        if regime.parameters == .strict, value.hasOthers { throw .parameters }
        return try passport(type, token, parts, members, signature)
    }

    /// A token inside the `opt` of another one (RFC 8946 §5). It has no parameters of a header field.
    func read(nested token: [UInt8]) throws(TrustCause) -> Passport {
        let parts = try TokenParts(token)
        let (header, type) = try parts.header()
        let signature = try parts.signature()
        let members = try HeaderMembers(header, allowsX5C: policy.regimes.contains(where: \.allowsX5C))
        try members.check()
        return try passport(type, token, parts, members, signature)
    }

    private func passport(
        _ type: PassportType, _ token: [UInt8], _ parts: TokenParts, _ members: HeaderMembers,
        _ signature: [UInt8]
    ) throws(TrustCause) -> Passport {
        // The regime of a signer is not known before the signer is.
        if let address = members.address, !policy.regimes.contains(where: { $0.addresses.allow(address) }) {
            throw .badAddress
        }
        return Passport(
            type: type, token: token, signedCount: parts.signedCount, signature: signature,
            claims: try PassportClaims(try parts.payload(), type), address: members.address, chain: members.chain,
            hasBrokenChain: members.hasBrokenChain)
    }

    /// The full form of `..signature`, made from the call (RFC 8224 §4.1, RFC 8225 §7).
    ///
    /// Only a token without extension has this form here. Its date is that of the call.
    private func full(_ token: [UInt8], _ value: IdentityValue, of field: [UInt8]) throws(TrustCause) -> [UInt8] {
        guard token.count > 2, token[1] == UInt8(ascii: "."), !token[2...].contains(UInt8(ascii: "."))
        else { throw .malformed }
        guard policy.allowsCompactForm, value.ppt == nil else { throw .compactForm }
        guard let info = value.info else { throw .infoMissing }
        guard let caller = call.caller, let called = call.called else { throw .notANumber }
        guard let date = call.date else { throw .compactForm }
        let address = String(decoding: field[info], as: UTF8.self)
        guard !address.utf8.contains(UInt8(ascii: "\"")), !address.utf8.contains(UInt8(ascii: "\\"))
        else { throw .badAddress }
        let header = #"{"alg":"ES256","typ":"passport","x5u":"\#(address)"}"#
        let payload = #"{"dest":{"tn":["\#(called.text)"]},"iat":\#(date),"orig":{"tn":"\#(caller.text)"}}"#
        let dot = [UInt8(ascii: ".")]
        return Base64.encodeURL(Array(header.utf8)) + dot + Base64.encodeURL(Array(payload.utf8)) + dot + token[2...]
    }
}

/// The three parts of a token (RFC 7515 §7.1).
struct TokenParts {
    private let token: [UInt8]
    private let firstDot: Int
    /// The position of the second dot.
    let signedCount: Int

    /// Throws `malformed` for anything but three parts, which are not empty.
    init(_ token: [UInt8]) throws(TrustCause) {
        guard token.count <= PassportReader.mostTokenBytes else { throw .oversize }
        var dots: (first: Int, second: Int, count: Int) = (0, 0, 0)
        for index in token.indices where token[index] == UInt8(ascii: ".") {
            if dots.count == 0 { dots.first = index } else { dots.second = index }
            dots.count += 1
        }
        guard dots.count == 2, dots.first > 0, dots.second > dots.first + 1, dots.second + 1 < token.count
        else { throw .malformed }
        self.token = token
        firstDot = dots.first
        signedCount = dots.second
    }

    /// The token header with its type. An unknown type ends the reading first of all.
    func header() throws(TrustCause) -> (StrictJSON, PassportType) {
        let header = try json(0..<firstDot)
        var type = PassportType.base
        if let ppt = header.member("ppt") {
            guard header.nodes[ppt].kind == .text else { throw .malformed }
            guard let named = PassportType(header, at: ppt) else { throw .unsupportedPPT }
            type = named
        }
        // No extension of RFC 7515 §4.1.11 is known here, so a token that depends on one is invalid.
        guard header.member("crit") == nil else { throw .malformed }
        return (header, type)
    }

    /// The payload.
    func payload() throws(TrustCause) -> StrictJSON { try json(firstDot + 1..<signedCount) }

    /// The 64 bytes of an ES256 signature (RFC 7518 §3.4).
    func signature() throws(TrustCause) -> [UInt8] {
        guard let signature = Base64.decode(token.span.extracting(signedCount + 1..<token.count)),
            signature.count == PassportReader.signatureBytes
        else { throw .malformed }
        return signature
    }

    private func json(_ part: Range<Int>) throws(TrustCause) -> StrictJSON {
        guard Base64.decodedCount(part.count) <= PassportReader.mostJSONBytes else { throw .oversize }
        guard let bytes = Base64.decode(token.span.extracting(part)), let json = StrictJSON(bytes)
        else { throw .malformed }
        return json
    }
}

/// The members of a token header that each token has (RFC 8225 §4).
struct HeaderMembers {
    private let isPassport: Bool
    private let isES256: Bool
    let address: String?
    let chain: [String]?
    let hasBrokenChain: Bool

    /// Throws `headerIncomplete` if one is missing, or if the token names no certificate.
    init(_ header: StrictJSON, allowsX5C: Bool) throws(TrustCause) {
        guard let alg = header.member("alg"), let typ = header.member("typ") else { throw .headerIncomplete }
        isES256 = header.isText(at: alg, "ES256")
        isPassport = header.isText(at: typ, "passport")
        address = header.text("x5u")
        let certificates = allowsX5C ? header.member("x5c") : nil
        guard address != nil || certificates != nil, address != nil || header.member("x5u") == nil
        else { throw .headerIncomplete }
        chain = certificates.flatMap { Self.chain($0, of: header) }
        hasBrokenChain = certificates != nil && chain == nil
    }

    /// Throws for another type or algorithm.
    func check() throws(TrustCause) {
        guard isPassport else { throw .typ }
        guard isES256 else { throw .alg }
    }

    /// The certificates of `x5c`: 1 to 6 texts of base64, each of one DER sequence (RFC 7515 §4.1.6).
    private static func chain(_ index: Int, of header: StrictJSON) -> [String]? {
        let elements = header.elements(of: index)
        guard (1...PassportReader.mostCertificates).contains(elements.count) else { return nil }
        var chain: [String] = []
        for element in elements {
            guard let text = header.text(at: element), isCertificate(text) else { return nil }
            chain.append(text)
        }
        return chain
    }

    /// True if the text is the base64 of one DER sequence, by the length in its first bytes.
    private static func isCertificate(_ text: String) -> Bool {
        let characters = text.utf8
        guard characters.count.isMultiple(of: 4), characters.count >= 8 else { return false }
        let padding = characters.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
        let head = Array(characters.prefix(8))
        guard let first = Base64.decode(head.span, .standard), first[0] == DERReader.sequence, first[1] == 0x82
        else { return false }
        return Int(first[2]) << 8 | Int(first[3]) == characters.count / 4 * 3 - padding - 4
    }
}
