// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Recognises tools that search the network for open SIP servers, by how their User-Agent begins.
///
/// Good for counting and for not answering strangers, never for refusing a configured peer: the field is what the sender
/// likes it to be (RFC 3261 §20.41), and some of these tools have honest uses.
package enum ScannerSigns {
    /// How their User-Agent fields begin; case does not count.
    private static let prefixes: [StaticString] = [
        "friendly-scanner", "friendly-request", "sipvicious", "sundayddr", "sip-scan", "sipscan", "sipcli", "sipsak",
        "iWar", "VaxSIPUserAgent", "VaxIPUserAgent", "pplsip", "sippts", "siparmyknife", "SIVuS", "smap", "Gulp",
        "Nmap", "SIPBomber", "siprogue",
    ]

    /// Which scanner a User-Agent field value belongs to; nil for none that is known.
    ///
    /// Any thread, no allocation.
    ///
    /// - Returns: the beginning it was known by, fit for a counter's label.
    package static func sign(in userAgent: ArraySlice<UInt8>) -> StaticString? {
        let value = userAgent.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return prefixes.first { value.prefix($0.utf8CodeUnitCount).equalsIgnoringCase($0) }
    }
}
