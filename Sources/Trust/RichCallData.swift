// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The name, the reason and the picture that a good token has (RFC 9795 §5 and §6).
///
/// One broken rule of construction takes all claims. A wrong digest takes the value that it covers.
struct RichCallData: Equatable, Sendable {
    private(set) var name = TrustVerdict.SignedText.absent
    private(set) var reason = TrustVerdict.SignedText.absent
    private(set) var icon = TrustVerdict.SignedIcon.absent
    private(set) var marks = TrustCauses()

    /// No claims, with the cause for it.
    init(without cause: TrustCause) { marks.insert(cause) }

    /// Reads the claims of a payload; nil without any.
    init?(_ payload: StrictJSON, rules: RichCallRules) {
        let rcd = payload.member("rcd")
        let crn = payload.member("crn")
        let rcdi = payload.member("rcdi")
        guard rcd != nil || crn != nil || rcdi != nil else { return nil }
        guard let claims = Self.construction(payload, rcd, crn, rcdi, rules) else {
            self.init(without: .rcdMalformed)
            return
        }
        self = claims
    }

    /// The claims as unverified, because the attestation is not enough.
    func weakened() -> RichCallData {
        var weak = self
        weak.marks.insert(.rcdAttestation)
        if case .verified = name { weak.name = .unverified(.rcdAttestation) }
        if case .verified = reason { weak.reason = .unverified(.rcdAttestation) }
        if icon != .absent { weak.icon = .unverified(.rcdAttestation) }
        return weak
    }

    /// Whether the name is verified.
    var hasVerifiedName: Bool { if case .verified = name { true } else { false } }

    /// Whether there is any value.
    var hasValues: Bool { name != .absent || reason != .absent || icon != .absent }

    private init() {}

    private static func construction(
        _ payload: StrictJSON, _ rcd: Int?, _ crn: Int?, _ rcdi: Int?, _ rules: RichCallRules
    ) -> RichCallData? {
        var claims = RichCallData()
        if let crn {
            guard let text = payload.text(at: crn) else { return nil }
            claims.reason = text.isEmpty ? .absent : .verified(text)
        }
        guard let rcd else { return rcdi == nil ? claims : nil }
        guard let card = RichCard(payload, rcd), let digests = RichDigests(payload, rcdi, rcd) else { return nil }
        if card.hasContentCard {
            guard rules.cardByContent == .drop else { return nil }
            claims.marks.insert(.rcdJCL)
        }
        guard card.external.allSatisfy({ digests.byPointer[$0] != nil }) else { return nil }
        claims.name = card.name.isEmpty ? .absent : .verified(card.name)
        claims.takeIcon(card, digests)
        claims.check(card, digests, payload, rcd)
        return claims
    }

    private mutating func takeIcon(_ card: RichCard, _ digests: RichDigests) {
        guard let address = card.icon else { return }
        guard card.external.contains(RichCard.iconPointer), let digest = digests.byPointer[RichCard.iconPointer] else {
            icon = .inline(address)
            return
        }
        icon = .named(address: address, digest: digest.text)
        marks.insert(.rcdIcon)
    }

    /// Compares the digests of values that the token has itself. Those of external bodies are compared elsewhere.
    private mutating func check(_ card: RichCard, _ digests: RichDigests, _ payload: StrictJSON, _ rcd: Int) {
        if let whole = digests.whole {
            if whole.covers(payload.canonical(rcd)) {
                marks.insert(.rcdDigestWhole)
            } else {
                refuse("")
            }
        }
        for (pointer, digest) in digests.byPointer where !card.external.contains(pointer) {
            guard let node = digests.nodes[pointer], !digest.covers(payload.canonical(node)) else { continue }
            if let bare = payload.text(at: node), digest.covers(bare) {
                marks.insert(.rcdDigestBare)
            } else {
                refuse(pointer)
            }
        }
    }

    /// Takes back the values that a wrong digest covers; an empty pointer covers all of `rcd`.
    private mutating func refuse(_ pointer: String) {
        if pointer.isEmpty || pointer == RichCard.namePointer, name != .absent {
            name = .unverified(.rcdName)
            marks.insert(.rcdName)
        }
        if pointer.isEmpty || pointer == RichCard.iconPointer, icon != .absent {
            icon = .unverified(.rcdIcon)
            marks.insert(.rcdIcon)
        }
    }
}

/// The members of an `rcd` claim (RFC 9795 §5.1).
struct RichCard {
    static let namePointer = "/nam", iconPointer = "/icn", linkPointer = "/jcl"

    let name: String
    let icon: String?
    /// Whether the card comes with the message, under a `cid`.
    private(set) var hasContentCard = false
    /// Pointers to addresses, each of which needs a digest of its body.
    private(set) var external: Set<String> = []

    /// Nil for a missing name and for a member of another type or scheme.
    init?(_ payload: StrictJSON, _ rcd: Int) {
        guard payload.nodes[rcd].kind == .object, let name = payload.text("nam", of: rcd) else { return nil }
        self.name = name
        icon = payload.text("icn", of: rcd)
        if payload.member("icn", of: rcd) != nil {
            guard let icon else { return nil }
            if Self.isSecure(icon) { external.insert(Self.iconPointer) } else if !icon.hasPrefix("data:") { return nil }
        }
        if let number = payload.member("apn", of: rcd), payload.number(at: number) == nil { return nil }
        let card = payload.member("jcd", of: rcd)
        let link = payload.member("jcl", of: rcd)
        guard card == nil || link == nil else { return nil }
        if let card, !readCard(payload, card) { return nil }
        if let link, !readLink(payload.text(at: link)) { return nil }
    }

    /// `["vcard", [[name, parameters, type, value …] …]]` (RFC 7095 §3.2).
    private mutating func readCard(_ payload: StrictJSON, _ card: Int) -> Bool {
        let parts = payload.elements(of: card)
        guard parts.count == 2, payload.isText(at: parts[0], "vcard"), payload.nodes[parts[1]].kind == .array
        else { return false }
        for (index, property) in payload.elements(of: parts[1]).enumerated() {
            let fields = payload.elements(of: property)
            guard fields.count >= 4 else { return false }
            guard payload.isText(at: fields[2], "uri") else { continue }
            for position in 3..<fields.count {
                guard let address = payload.text(at: fields[position]) else { return false }
                if !address.hasPrefix("data:") { external.insert("/jcd/1/\(index)/\(position)") }
            }
        }
        return true
    }

    private mutating func readLink(_ link: String?) -> Bool {
        guard let link else { return false }
        if link.hasPrefix("cid:") {
            hasContentCard = true
        } else if Self.isSecure(link) {
            external.insert(Self.linkPointer)
        } else {
            return false
        }
        return true
    }

    private static func isSecure(_ address: String) -> Bool { address.prefix(8).lowercased() == "https://" }
}

/// The digests of an `rcdi` claim (RFC 9795 §6).
struct RichDigests {
    /// One digest, such as `sha256-…`.
    struct Digest {
        let text: String
        private let kind: Substring
        private let bytes: [UInt8]

        /// Nil for another hash function and for another length. Padding may be missing.
        init?(_ text: String) {
            guard let dash = text.firstIndex(of: "-") else { return nil }
            kind = text[..<dash]
            let lengths: [Substring: Int] = ["sha256": 32, "sha384": 48, "sha512": 64]
            var characters = Array(text[text.index(after: dash)...].utf8)
            while characters.last == UInt8(ascii: "=") { characters.removeLast() }
            guard let length = lengths[kind], let bytes = Base64.decode(characters.span, .standard),
                bytes.count == length
            else { return nil }
            self.text = text
            self.bytes = bytes
        }

        /// True if it is the digest of the text's UTF-8 bytes.
        func covers(_ text: String) -> Bool {
            let data = Array(text.utf8)
            return switch kind {
            case "sha256": SHA256.hash(data: data).elementsEqual(bytes)
            case "sha384": SHA384.hash(data: data).elementsEqual(bytes)
            default: SHA512.hash(data: data).elementsEqual(bytes)
            }
        }
    }

    private(set) var byPointer: [String: Digest] = [:]
    /// The nodes that the pointers lead to.
    private(set) var nodes: [String: Int] = [:]
    /// The digest of the whole `rcd`, where the claim is one text.
    private(set) var whole: Digest?

    /// Nil for a claim of another type, a damaged digest, and a pointer that leads nowhere. Empty without a claim.
    init?(_ payload: StrictJSON, _ rcdi: Int?, _ rcd: Int) {
        guard let rcdi else { return }
        if let text = payload.text(at: rcdi) {
            guard let digest = Digest(text) else { return nil }
            whole = digest
            return
        }
        guard payload.nodes[rcdi].kind == .object else { return nil }
        for member in payload.members(of: rcdi) {
            guard let pointer = payload.text(at: member.name),
                let digest = payload.text(at: member.value).flatMap({ Digest($0) }),
                let node = Self.resolve(pointer, payload, rcd)
            else { return nil }
            byPointer[pointer] = digest
            nodes[pointer] = node
        }
    }

    /// The node of a JSON pointer below `rcd` (RFC 6901 §4).
    private static func resolve(_ pointer: String, _ payload: StrictJSON, _ rcd: Int) -> Int? {
        guard !pointer.isEmpty else { return rcd }
        guard pointer.hasPrefix("/") else { return nil }
        var node = rcd
        for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            switch payload.nodes[node].kind {
            case .object:
                guard let name = unescaped(part), let value = payload.member(named: name, of: node) else { return nil }
                node = value
            case .array:
                let elements = payload.elements(of: node)
                guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), part == "0" || part.first != "0",
                    let index = Int(part), index < elements.count
                else { return nil }
                node = elements[index]
            default: return nil
            }
        }
        return node
    }

    /// A reference token with `~0` as `~` and `~1` as `/`; nil for another use of `~`.
    private static func unescaped(_ part: Substring) -> String? {
        var text = ""
        var isEscape = false
        for character in part {
            if isEscape {
                guard character == "0" || character == "1" else { return nil }
                text.append(character == "0" ? "~" : "/")
                isEscape = false
            } else if character == "~" {
                isEscape = true
            } else {
                text.append(character)
            }
        }
        return isEscape ? nil : text
    }
}
