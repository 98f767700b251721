// SPDX-License-Identifier: Apache-2.0

// The messages of one call as its two ends write them.

/// A request of the trunk.
func request(
    _ method: String, from name: String = #""Carrier" "#, extra: String = "", toTag: String = "",
    branch: String = "1",
    sequence: Int = 1, body: String = ""
) -> String {
    """
    \(method) sip:100@192.0.2.20 SIP/2.0
    Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK\(branch);rport
    Max-Forwards: 70
    From: \(name)<sip:+61491570156@carrier.example>;tag=a
    To: <sip:100@192.0.2.20>\(toTag)
    Call-ID: story@carrier.example
    CSeq: \(sequence) \(method)
    \(extra)Content-Length: \(body.utf8.count)

    \(body)
    """
}

/// The same request sent by the side that was called: From and To have changed their tags (RFC 3261 §12.2.1.1).
func fromCalledSide(_ text: String) -> String {
    text.replacing(";tag=a", with: ";tag=_").replacing(";tag=p", with: ";tag=a").replacing(";tag=_", with: ";tag=p")
}

/// A response of the PBX to a forwarded request.
func response(_ status: String, to forwarded: String, extra: String = "") -> String {
    let kept = forwarded.split(separator: "\r\n").filter {
        $0.hasPrefix("Via:") || $0.hasPrefix("Record-Route:") || $0.hasPrefix("From:") || $0.hasPrefix("Call-ID:")
            || $0.hasPrefix("CSeq:")
    }
    return "SIP/2.0 \(status)\n" + kept.joined(separator: "\n")
        + "\nTo: <sip:100@192.0.2.20>;tag=p\n\(extra)Content-Length: 0\n\n"
}
