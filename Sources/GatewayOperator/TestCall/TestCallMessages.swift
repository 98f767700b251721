// SPDX-License-Identifier: Apache-2.0

import GatewayConfiguration
import SIPCore

/// The requests and responses of a test call's caller (RFC 3261 §8.1, §8.2, §12.2).
///
/// Without 100rel in Supported, so that no PBX asks for PRACK (RFC 3262 §4).
struct TestCallMessages: Hashable, Sendable {
    /// Addresses and names of the call.
    let plan: TestCallPlan
    /// The port of the caller.
    let port: Int
    /// The port of the session description, which is bound and never read.
    let mediaPort: Int
    let attestation: Attestation
    let callID: String
    let tag: String

    /// - Parameters:
    ///   - attestation: what the carrier would assert of the caller.
    ///   - token: letters and digits that no other call has.
    init(_ plan: TestCallPlan, port: Int, mediaPort: Int, attestation: Attestation, token: String) {
        (self.plan, self.port, self.mediaPort, self.attestation) = (plan, port, mediaPort, attestation)
        callID = "herald-test-\(token)"
        tag = "ht\(token.prefix(8))"
    }

    private var host: String { TestCallService.bracketed(plan.host) }
    private var local: String { "\(host):\(port)" }
    /// The URI of the called party as the carrier writes it.
    var calledURI: String { "sip:\(plan.to)@\(host):\(plan.port)" }
    private var caller: String { "sip:\(plan.from)@\(host);user=phone" }
    /// The phone shows this name where no brand replaces it.
    private var from: String { "\"Herald test call\" <\(caller)>;tag=\(tag)" }

    /// Requests of the PBX come by the connection of the INVITE, whose port it names (RFC 3261 §18.1.1).
    private var contact: String {
        "Contact: <sip:\(plan.from)@\(local)\(plan.transport == .tcp ? ";transport=tcp" : "")>"
    }

    /// The methods that the caller takes.
    static let methods = ["INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "UPDATE", "INFO", "NOTIFY", "MESSAGE"]

    private static let allow = "Allow: " + methods.joined(separator: ", ")

    /// The INVITE.
    func invite(_ branch: String) -> String {
        let body = session
        return request(
            "INVITE", to: calledURI, branch, sequence: 1,
            [
                contact,
                "P-Asserted-Identity: \"Herald test call\" <\(asserted)>",
                Self.allow,
                "User-Agent: herald/\(HeraldVersion.current) test call",
            ] + attestationFields + ["Content-Type: application/sdp"], body: body)
    }

    private var asserted: String {
        attestation == .failed
            ? "sip:\(plan.from);verstat=TN-Validation-Failed@\(host);user=phone" : caller
    }

    private var attestationFields: [String] {
        switch attestation {
        case .none, .failed: []
        case .a, .b, .c: ["P-Attestation-Indicator: \(attestation.rawValue)"]
        }
    }

    /// A request of the call.
    ///
    /// - Parameters:
    ///   - remoteTag: the parameter of To with its semicolon; empty before the dialog.
    ///   - routes: values of Route.
    func request(
        _ method: String, to uri: String, _ branch: String, sequence: Int, remoteTag: String = "",
        routes: [String] = [], _ fields: [String] = [], body: String = ""
    ) -> String {
        let head = [
            "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/\(plan.transport.rawValue) \(local);branch=\(branch);rport",
        ]
        let dialog = [
            "Max-Forwards: 70", "From: \(from)", "To: <\(calledURI)>\(remoteTag)", "Call-ID: \(callID)",
            "CSeq: \(sequence) \(method)",
        ]
        let lines = head + routes.map { "Route: \($0)" } + dialog + fields + ["Content-Length: \(body.utf8.count)", ""]
        return lines.joined(separator: "\r\n") + "\r\n" + body
    }

    /// A response to a request of the PBX.
    ///
    /// - Parameter isOffered: whether the response has a session description.
    func response(_ status: String, to request: SIPMessage, hasSession: Bool = false) -> String {
        let copied = request.headers.filter { Self.copied.contains($0.name) }.map { field in
            let line = String(decoding: request[field.start..<field.end], as: UTF8.self)
                .replacing("\r\n", with: " ").trimmingSuffix
            return field.name == .to && !request.isInDialog ? line + ";tag=\(tag)" : line
        }
        let body = hasSession ? session : ""
        let session = hasSession ? [contact, "Content-Type: application/sdp"] : []
        let allow = status.hasPrefix("405") ? [Self.allow] : []
        return (["SIP/2.0 \(status)"] + copied + allow + session + ["Content-Length: \(body.utf8.count)", ""])
            .joined(separator: "\r\n") + "\r\n" + body
    }

    private static let copied: Set<HeaderName> = [.via, .from, .to, .callID, .cseq, .recordRoute]

    /// An ordinary session of a carrier, whose media are never sent or read.
    ///
    /// No hold: several PBXs reject a first offer with c=0.0.0.0, sendonly or inactive with 488, and others play music to the
    /// phone. The address is real and the port is bound, so that no ICMP error ends the PBX's media (RFC 3264 §5.1, RFC 4566).
    private var session: String {
        let family = plan.host.contains(":") ? "IP6" : "IP4"
        return [
            "v=0", "o=herald 1 1 IN \(family) \(plan.host)", "s=-", "c=IN \(family) \(plan.host)", "t=0 0",
            "m=audio \(mediaPort) RTP/AVP 8 0 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:0 PCMU/8000",
            "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=sendrecv", "",
        ].joined(separator: "\r\n")
    }
}

extension String {
    fileprivate var trimmingSuffix: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }
}
