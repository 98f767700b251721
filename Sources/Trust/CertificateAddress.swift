// SPDX-License-Identifier: Apache-2.0

extension AddressRules {
    /// The longest address of a certificate.
    static let mostBytes = 512

    /// True if a certificate may come from the address: scheme, host and port alone decide, and nothing is resolved.
    ///
    /// User information, a query and a fragment are refused (RFC 3986 §3).
    public func allow(_ address: String) -> Bool {
        guard address.utf8.count <= Self.mostBytes, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let colon = address.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let scheme = address[..<colon].lowercased()
        guard scheme == "https" || (scheme == "http" && allowsHTTP), address[colon...].hasPrefix("://")
        else { return false }
        let rest = address[address.index(colon, offsetBy: 3)...]
        guard !rest.utf8.contains(where: { "?#@\\\"<>".utf8.contains($0) }) else { return false }
        let authority = rest.prefix { $0 != "/" }
        guard let (host, port) = Self.split(authority) else { return false }
        let used = port ?? (scheme == "https" ? 443 : 80)
        if let ports, !ports.contains(used), !(used == 80 && port == nil && allowsHTTP) { return false }
        return allowsPrivate ? !host.isEmpty : Self.isPublic(host)
    }

    /// Host and port; nil for a port that is none.
    private static func split(_ authority: Substring) -> (host: Substring, port: UInt16?)? {
        var host = authority
        var port: Substring?
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard let port else { return (host, nil) }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port), number > 0
        else { return nil }
        return (host, number)
    }

    /// True for a name with a dot, and for a literal address outside of private and special networks.
    private static func isPublic(_ host: Substring) -> Bool {
        if host.first == "[" { return isPublicSixth(host.dropFirst().dropLast()) }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, labels.dropLast().allSatisfy({ !$0.isEmpty }),
            host.utf8.allSatisfy({ $0.isHostCharacter })
        else { return false }
        let last = labels.last?.isEmpty == true ? labels.dropLast().last : labels.last
        guard let last, last.utf8.first.map({ !(0x30...0x39).contains($0) }) == true else {
            return isPublicFourth(labels)
        }
        return !["localhost", "local", "internal", "localdomain"].contains(last.lowercased())
    }

    /// IPv4 in four decimal numbers (RFC 6890).
    private static func isPublicFourth(_ labels: [Substring]) -> Bool {
        let parts = labels.compactMap { $0.count > 1 && $0.first == "0" ? nil : UInt8($0) }
        guard parts.count == 4, labels.count == 4 else { return false }
        switch (parts[0], parts[1]) {
        case (0, _), (10, _), (127, _), (224..., _), (100, 64...127), (169, 254), (172, 16...31), (192, 168),
            (198, 18...19):
            return false
        default: return parts[0] != 192 || parts[1] != 0 || parts[2] > 2
        }
    }

    /// IPv6 of the global unicast range, without forms that hold an IPv4 address.
    private static func isPublicSixth(_ host: Substring) -> Bool {
        guard host.utf8.allSatisfy({ $0 == UInt8(ascii: ":") || Character(Unicode.Scalar($0)).isHexDigit }),
            let first = host.split(separator: ":", omittingEmptySubsequences: false).first.flatMap({
                UInt16($0, radix: 16)
            })
        else { return false }
        return (0x2000...0x3FFF).contains(first) && first != 0x2002 && !host.lowercased().hasPrefix("2001:db8:")
            && !host.hasPrefix("2001:0:") && !host.hasPrefix("2001::")
    }
}

extension UInt8 {
    fileprivate var isHostCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
