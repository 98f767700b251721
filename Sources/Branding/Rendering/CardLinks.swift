// SPDX-License-Identifier: Apache-2.0

/// The addresses of the public cards of an account's brands: one template with `{brand_id}` (RFC 6570 level 1).
///
/// A directory gives the template, so it is foreign text. Nothing of a brand is rendered before a call needs it.
public struct CardLinks: Hashable, Sendable {
    /// The largest template in bytes.
    public static let longest = 512
    /// The largest identifier in bytes that has an address here; a brand index cuts longer ones.
    static let longestIdentifier = RenderedBrands.maxBrandIDBytes - 4
    private static let variable: StaticString = "{brand_id}"

    /// The bytes before and behind the identifier.
    private let head: [UInt8]
    private let tail: [UInt8]

    /// Accepts a template that is safe between the angle brackets of a header field.
    ///
    /// It has `https`, or `http` on this machine, and the variable once, in its path or query. User names, blanks, control
    /// characters and characters outside RFC 3986 §2 are refused. So are fragments, which `absoluteURI` of RFC 3261 §25.1
    /// does not have.
    public init?(template: String) {
        let bytes = Array(template.utf8.prefix(Self.longest + 1))
        guard bytes.count <= Self.longest, let open = bytes.firstIndex(of: UInt8(ascii: "{")) else { return nil }
        let head = bytes[..<open]
        let rest = bytes[open...]
        let length = Self.variable.utf8CodeUnitCount
        guard rest.starts(with: Self.variable.withUTF8Buffer { Array($0) }) else { return nil }
        let tail = rest.dropFirst(length)
        let whole = String(decoding: head + tail, as: UTF8.self)
        // The grammar of a URL excludes a second variable.
        guard LogoURL.isSafe(whole, allowInsecure: Self.isLocal(head)), Self.hasAuthority(head),
            !bytes.contains(UInt8(ascii: "#"))
        else { return nil }
        (self.head, self.tail) = (Array(head), Array(tail))
    }

    /// The template as the directory sent it.
    public var template: String {
        String(decoding: head + Self.variable.withUTF8Buffer { Array($0) } + tail, as: UTF8.self)
    }

    /// The address of a brand's card; nil for an identifier that no path segment can have.
    public func address(of brandID: String) -> String? {
        let identifier = Array(brandID.utf8)
        guard Self.isSegment(identifier[...]) else { return nil }
        var out: [UInt8] = []
        append(of: identifier[...], to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the address of a card.
    ///
    /// Bytes outside the unreserved characters of RFC 3986 §2.3 are escaped.
    func append(of identifier: ArraySlice<UInt8>, to out: inout [UInt8]) {
        out.append(contentsOf: head)
        for byte in identifier {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.append(byte)
            default:
                out.append(UInt8(ascii: "%"))
                out.append(Self.digit(byte >> 4))
                out.append(Self.digit(byte & 15))
            }
        }
        out.append(contentsOf: tail)
    }

    /// Whether an identifier can be a path segment: not empty, not `.` and not `..`, and whole in the index.
    static func isSegment(_ identifier: ArraySlice<UInt8>) -> Bool {
        guard let first = identifier.first, identifier.count <= longestIdentifier else { return false }
        return identifier.count > 2 || first != UInt8(ascii: ".") || identifier.last != UInt8(ascii: ".")
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    /// Whether a URL's host ends before the variable.
    private static func hasAuthority(_ head: ArraySlice<UInt8>) -> Bool {
        let slashes = head.indices.filter { head[$0] == UInt8(ascii: "/") }
        return slashes.count > 2
    }

    /// Whether a URL with `http` leads to this machine.
    private static func isLocal(_ head: ArraySlice<UInt8>) -> Bool {
        let hosts: [StaticString] = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
        return hosts.contains { host in
            guard head.starts(with: host.withUTF8Buffer { Array($0) }) else { return false }
            let next = head.dropFirst(host.utf8CodeUnitCount).first
            return next == UInt8(ascii: ":") || next == UInt8(ascii: "/")
        }
    }
}

extension BrandIndex {
    /// Whether the brand's identifier has a card's address.
    public func hasCard(_ entry: BrandEntry) -> Bool { CardLinks.isSegment(brands.identifier(of: entry.brand)) }

    /// Appends a Call-Info value with the address of the brand's card: `<URL>;purpose=info` (RFC 3261 §20.9).
    ///
    /// For brands with `hasCard`.
    public func appendCard(of entry: BrandEntry, at links: CardLinks, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "<"))
        links.append(of: brands.identifier(of: entry.brand), to: &out)
        out.append(CardLinks.infoPurpose)
    }

    /// The address of the brand's card; nil without one.
    public func cardURL(of entry: BrandEntry, at links: CardLinks?) -> String? {
        links?.address(of: text(.brandID, entry))
    }
}

extension CardLinks {
    /// The suffix of a card's URL.
    static let infoPurpose: StaticString = ">;purpose=info"
}
