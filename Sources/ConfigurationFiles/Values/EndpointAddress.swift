// SPDX-License-Identifier: Apache-2.0

import Primitives

/// An address and a port: `192.0.2.1:5060`, `[2001:db8::1]:5060`.
package struct EndpointAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, IPv6 without brackets; or a host name where names are allowed.
    package let host: String
    /// The configured or default port.
    package let port: UInt16
    package let isIPv6: Bool
    /// True for a host name, which the gateway resolves at run time.
    package var isName = false
    /// False if the port is a default. A host name's SRV records then determine the port.
    package var hasPort = true

    /// - Parameter host: an address, IPv6 without brackets; or a host name with `isName`.
    package init(host: String, port: UInt16, isIPv6: Bool, isName: Bool = false, hasPort: Bool = true) {
        (self.host, self.port, self.isIPv6) = (host, port, isIPv6)
        (self.isName, self.hasPort) = (isName, hasPort)
    }

    package var description: String {
        if isName, !hasPort { return host }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    package static func == (left: EndpointAddress, right: EndpointAddress) -> Bool {
        left.host == right.host && left.port == right.port
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }

    /// True for 127.0.0.0/8 and ::1.
    package var isLoopback: Bool { isIPv6 ? AddressBytes(host) == AddressBytes("::1") : host.hasPrefix("127.") }

    /// True for 0.0.0.0 and ::, which mean every interface.
    package var isWildcard: Bool { AddressBytes(host)?.bytes.allSatisfy { $0 == 0 } ?? false }

    /// Parses an address with a port, or with `defaultPort` if the text has none.
    package static func read(
        _ text: String, defaultPort: UInt16?, allowsNames: Bool = false, allowsPortZero: Bool = false
    ) throws(AddressProblem) -> EndpointAddress {
        let (host, portText) = try split(text)
        var port = defaultPort
        if let portText { port = try readPort(portText, allowsZero: allowsPortZero) }
        guard let port else { throw .missingPort }
        if let literal = AddressBytes(host) {
            return EndpointAddress(host: host, port: port, isIPv6: literal.isIPv6, hasPort: portText != nil)
        }
        guard isName(host) else { throw .badHost(host) }
        guard allowsNames else { throw .name(host) }
        return EndpointAddress(host: host, port: port, isIPv6: false, isName: true, hasPort: portText != nil)
    }

    /// Splits `host`, `host:port`, `[v6]`, `[v6]:port` or an IPv6 address without brackets.
    static func split(_ text: String) throws(AddressProblem) -> (host: String, port: String?) {
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw .badHost(text) }
            let host = String(text[text.index(after: text.startIndex)..<close])
            let rest = text[text.index(after: close)...]
            guard AddressBytes(host)?.isIPv6 == true else { throw .badHost(text) }
            if rest.isEmpty { return (host, nil) }
            guard rest.hasPrefix(":") else { throw .badHost(text) }
            return (host, String(rest.dropFirst()))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2 { return (String(parts[0]), String(parts[1])) }
        // Several colons without brackets are an IPv6 address without a port. A last group that may be a port is
        // rejected.
        if parts.count > 2, let last = parts.last, (4...5).contains(last.utf8.count), let port = UInt16(last),
            AddressBytes(parts.dropLast().joined(separator: ":")) != nil
        {
            throw .unbracketed(text, port: port)
        }
        return (text, nil)
    }

    static func readPort(_ text: String, allowsZero: Bool = false) throws(AddressProblem) -> UInt16 {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let number = UInt16(text), number > 0 || allowsZero else { throw .badPort(text) }
        return number
    }

    private static func isName(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.count <= 253 && host.utf8.contains { (97...122).contains($0 | 0x20) }
            && host.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
    }
}
