// SPDX-License-Identifier: Apache-2.0

/// Requests for the redirect door.
enum RedirectMessages {
    /// A request with CRLF line ends.
    ///
    /// - Parameter lines: further header fields, each with a line feed.
    static func request(
        _ method: String = "INVITE", uri: String = "sip:100@192.0.2.20", caller: String = "+61255501301",
        via: String = "SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK1;rport", callID: String = "redirect@192.0.2.20",
        to: String = "<sip:100@192.0.2.20>", sequence: String? = nil, lines: String = "", body: String = ""
    ) -> String {
        let text = """
            \(method) \(uri) SIP/2.0
            Via: \(via)
            Max-Forwards: 70
            From: "WIRELESS CALLER" <sip:\(caller)@carrier.example>;tag=a
            To: \(to)
            Call-ID: \(callID)
            CSeq: \(sequence ?? "1 \(method)")
            \(lines)Content-Length: \(body.utf8.count)

            \(body)
            """
        return text.replacing("\n", with: "\r\n")
    }

    /// The lines of a response.
    static func lines(_ response: [UInt8]) -> [String] {
        String(decoding: response, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            .map(String.init)
    }
}
