// SPDX-License-Identifier: Apache-2.0

extension AddressRules {
    /// The longest address of a certificate.
    static let mostBytes = 512

    /// True if a certificate may come from the address: scheme, host and port alone decide, and nothing is resolved.
    ///
    /// User information, a query and a fragment are refused (RFC 3986 §3).
    public func allow(_ address: String) -> Bool {
        let bytes = Array(address.utf8)
        guard bytes.count <= Self.mostBytes, let start = authorityStart(bytes) else { return false }
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
        for byte in bytes[start...] where !byte.isAddressCharacter { return false }
        guard let (host, port) = Self.split(bytes[start..<end]) else { return false }
        let isPlain = bytes[4] == UInt8(ascii: ":")
        if let ports, !ports.contains(port ?? (isPlain ? 80 : 443)), port != nil || !isPlain { return false }
        return allowsPrivate ? !host.isEmpty : Self.isPublic(host)
    }

    /// The position behind `https://`, or behind `http://` where that is allowed.
    private func authorityStart(_ bytes: [UInt8]) -> Int? {
        if bytes.count > 8, bytes.span.extracting(..<8).equals("https://") { return 8 }
        return allowsHTTP && bytes.count > 7 && bytes.span.extracting(..<7).equals("http://") ? 7 : nil
    }

    /// Host and port; nil for a port that is none. A literal of IPv6 keeps its brackets.
    private static func split(_ authority: ArraySlice<UInt8>) -> (host: ArraySlice<UInt8>, port: UInt16?)? {
        let colon: Int
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            colon = end + 1
        } else {
            colon = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        }
        guard colon < authority.endIndex else { return (authority, nil) }
        let digits = authority[(colon + 1)...]
        guard authority[colon] == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else { return nil }
        return (authority[..<colon], port)
    }

    /// True for a name with a dot, and for a literal address outside of private and special networks.
    private static func isPublic(_ host: ArraySlice<UInt8>) -> Bool {
        if host.first == UInt8(ascii: "[") { return isPublicSixth(host.dropFirst().dropLast()) }
        var labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // A name may end with a dot.
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }), host.allSatisfy(\.isHostCharacter),
            let last = labels.last,
            let first = last.first
        else { return false }
        if (0x30...0x39).contains(first) { return isPublicFourth(labels) }
        let special: [StaticString] = ["localhost", "local", "internal", "localdomain"]
        return !special.contains { last.span.equals($0) }
    }

    /// IPv4 in four decimal numbers (RFC 6890).
    private static func isPublicFourth(_ labels: [ArraySlice<UInt8>]) -> Bool {
        let parts = labels.compactMap { label in
            label.count > 1 && label.first == UInt8(ascii: "0") ? nil : UInt8(String(decoding: label, as: UTF8.self))
        }
        guard parts.count == 4, labels.count == 4 else { return false }
        switch (parts[0], parts[1]) {
        case (0, _), (10, _), (127, _), (224..., _), (100, 64...127), (169, 254), (172, 16...31), (192, 168),
            (198, 18...19):
            return false
        default: return parts[0] != 192 || parts[1] != 0 || parts[2] > 2
        }
    }

    /// IPv6 of the global unicast range, without forms that hold an IPv4 address and without examples (RFC 6890).
    private static func isPublicSixth(_ host: ArraySlice<UInt8>) -> Bool {
        let groups = host.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { group in
            group.isEmpty ? 0 : UInt16(String(decoding: group, as: UTF8.self), radix: 16)
        }
        guard groups.count > 2, groups.count < 9, groups.allSatisfy({ $0 != nil }),
            !host.contains(UInt8(ascii: "+")), !host.contains(UInt8(ascii: "-")), let first = groups[0],
            let second = groups[1]
        else { return false }
        guard (0x2000...0x3FFF).contains(first), first != 0x2002 else { return false }
        return first != 0x2001 || (second > 0x1FF && second != 0x0DB8)
    }
}

extension UInt8 {
    /// A printable character that neither ends the path of an address nor needs an escape.
    fileprivate var isAddressCharacter: Bool {
        switch self {
        case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"), UInt8(ascii: "\""),
            UInt8(ascii: "<"), UInt8(ascii: ">"):
            false
        default: (0x21...0x7E).contains(self)
        }
    }

    fileprivate var isHostCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
