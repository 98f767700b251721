// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Recognises tools that search the network for open SIP servers by the beginning of their User-Agent.
///
/// The sender chooses that field freely (RFC 3261 §20.41), and some of these tools have honest uses. So it serves to count
/// unknown peers and to drop their messages, never to reject a configured peer.
public enum ScannerSigns {
    /// Beginnings of their User-Agent fields, in any case.
    private static let prefixes: [StaticString] = [
        "friendly-scanner", "friendly-request", "sipvicious", "sundayddr", "sip-scan", "sipscan", "sipcli", "sipsak",
        "iWar", "VaxSIPUserAgent", "VaxIPUserAgent", "pplsip", "sippts", "siparmyknife", "SIVuS", "smap", "Gulp",
        "Nmap", "SIPBomber", "siprogue",
    ]

    /// The scanner of a User-Agent value; nil for no known one.
    ///
    /// Any thread, no allocation.
    ///
    /// - Returns: the matching beginning, fit for a counter's label.
    public static func sign(in userAgent: ArraySlice<UInt8>) -> StaticString? {
        let value = userAgent.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return prefixes.first { value.prefix($0.utf8CodeUnitCount).equalsIgnoringCase($0) }
    }
}
