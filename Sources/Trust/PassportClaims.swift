// SPDX-License-Identifier: Apache-2.0

/// The claims of a token that each check needs (RFC 8225 §5, RFC 8588 §4, RFC 8946 §4, RFC 9795 §5).
struct PassportClaims: Sendable {
    /// A party of the call.
    enum Party: Equatable, Sendable {
        /// A telephone number; nil in another form than the canonical one, which equals no number.
        case number(CanonicalNumber?)
        case uri(String)
    }

    let payload: StrictJSON
    let orig: Party
    /// Seconds of Unix time.
    let issued: Int64
    /// The times before and from which the token is invalid, if it has them (RFC 7519 §4.1.4 and §4.1.5).
    let begins: Int64?, ends: Int64?
    let attestation: Attestation?
    let origid: String?
    /// The number that the call was diverted from.
    let div: Party?
    /// The token inside a `div-o`.
    let nested: String?
    /// The node of `dest`.
    private let dest: Int

    /// Throws `claims` for a missing claim and for one of a wrong type.
    init(_ payload: StrictJSON, _ type: PassportType) throws(TrustCause) {
        self.payload = payload
        orig = try Self.party("orig", of: payload)
        guard let dest = payload.member("dest"), Self.isDestination(dest, of: payload),
            let issued = payload.member("iat").flatMap({ payload.integer(at: $0) })
        else { throw .claims }
        self.dest = dest
        self.issued = issued
        begins = try Self.time("nbf", of: payload)
        ends = try Self.time("exp", of: payload)
        var attestation: Attestation?
        var origid: String?
        if type == .shaken {
            attestation = try Self.attestation(of: payload)
            guard let text = payload.text("origid") else { throw .claims }
            origid = text
        }
        self.attestation = attestation
        self.origid = origid
        div = type == .div || type == .divO ? try Self.party("div", of: payload) : nil
        nested = type == .divO ? payload.text("opt") : nil
        if type == .divO, nested == nil { throw .claims }
    }

    /// A time in whole seconds, nil if the claim is missing.
    private static func time(_ name: StaticString, of payload: StrictJSON) throws(TrustCause) -> Int64? {
        guard let claim = payload.member(name) else { return nil }
        guard let time = payload.integer(at: claim) else { throw .claims }
        return time
    }

    /// Exactly one number or URI.
    private static func party(_ name: StaticString, of payload: StrictJSON) throws(TrustCause) -> Party {
        guard let party = payload.member(name), payload.nodes[party].kind == .object else { throw .claims }
        switch (payload.member("tn", of: party), payload.member("uri", of: party)) {
        case (let number?, nil):
            guard payload.nodes[number].kind == .text else { throw .claims }
            return .number(payload.number(at: number))
        case (nil, let uri?):
            guard let text = payload.text(at: uri) else { throw .claims }
            return .uri(text)
        default: throw .claims
        }
    }

    /// True for an object with a list of numbers, a list of URIs or both, together not empty, of text alone.
    private static func isDestination(_ dest: Int, of payload: StrictJSON) -> Bool {
        let lists = [payload.member("tn", of: dest), payload.member("uri", of: dest)].compactMap(\.self)
        var count = 0
        for list in lists {
            guard payload.nodes[list].kind == .array else { return false }
            let elements = payload.elements(of: list)
            guard elements.allSatisfy({ payload.nodes[$0].kind == .text }) else { return false }
            count += elements.count
        }
        return count > 0
    }

    private static func attestation(of payload: StrictJSON) throws(TrustCause) -> Attestation {
        guard let attest = payload.member("attest") else { throw .claims }
        if payload.isText(at: attest, "A") { return .a }
        if payload.isText(at: attest, "B") { return .b }
        if payload.isText(at: attest, "C") { return .c }
        throw .claims
    }

    /// True if `dest` has the number.
    func isDestined(to number: CanonicalNumber) -> Bool {
        guard let list = payload.member("tn", of: dest) else { return false }
        return payload.elements(of: list).contains { payload.number(at: $0) == number }
    }

    /// True if `dest` has the number or the URI.
    func isDestined(to party: Party) -> Bool {
        switch party {
        case .number(let number): return number.map { isDestined(to: $0) } ?? false
        case .uri(let uri):
            guard let list = payload.member("uri", of: dest) else { return false }
            return payload.elements(of: list).contains { payload.text(at: $0) == uri }
        }
    }

    /// Whether `dest` has telephone numbers at all.
    var hasNumbers: Bool { payload.member("tn", of: dest).map { !payload.elements(of: $0).isEmpty } ?? false }

    /// The first number of `dest`.
    var firstCalled: CanonicalNumber? {
        payload.member("tn", of: dest).flatMap { payload.elements(of: $0).first }.flatMap { payload.number(at: $0) }
    }

    /// True if the `origid` is a UUID (RFC 8588 §5).
    var hasUniversalOrigid: Bool {
        guard let origid, origid.utf8.count == 36 else { return false }
        var index = 0
        for byte in origid.utf8 {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? byte == UInt8(ascii: "-") : byte.hexadecimal != nil else { return false }
            index += 1
        }
        return true
    }

    /// True if the claims keep the constraints of a certificate (RFC 8226 §8, RFC 9118 §3).
    func keep(_ constraints: ClaimConstraints) -> Bool {
        guard constraints.mustInclude.allSatisfy({ payload.member(named: $0) != nil }),
            !constraints.mustExclude.contains(where: { payload.member(named: $0) != nil })
        else { return false }
        return constraints.permitted.allSatisfy { permitted in
            guard let claim = payload.member(named: permitted.claim) else { return true }
            return permitted.values.contains(payload.text(at: claim) ?? payload.canonical(claim))
        }
    }
}
