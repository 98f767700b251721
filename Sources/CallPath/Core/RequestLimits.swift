// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Limits of the call path that no key changes; `docs/limits.md` has all limits.
public enum RequestLimits {
    /// Most values of one header field that may name the caller.
    public static let identityValues = 8
    /// Bytes of the largest UDP datagram by IPv4 (RFC 768).
    public static let datagramIPv4 = 65_507
    /// The same by IPv6, whose header is 20 bytes longer.
    public static let datagramIPv6 = 65_487

    /// Bytes of the largest datagram to an address.
    static func datagram(to address: PeerAddress) -> Int { address.isIPv6 ? datagramIPv6 : datagramIPv4 }
}
