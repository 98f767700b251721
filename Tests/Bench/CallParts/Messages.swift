// SPDX-License-Identifier: Apache-2.0

import Benchmark
import SIPCore

/// An INVITE as carriers send it, 1.1 kB.
let invite = Array(
    """
    INVITE sip:+12025550142@192.0.2.20:5060;user=phone SIP/2.0
    Via: SIP/2.0/UDP 203.0.113.17:5060;branch=z9hG4bK-4711-1-0;rport
    Max-Forwards: 69
    From: "WIRELESS CALLER" <sip:+12025550123@carrier.example;user=phone>;tag=4711c1
    To: <sip:+12025550142@office.example;user=phone>
    Call-ID: 1-4711@203.0.113.17
    CSeq: 1 INVITE
    Contact: <sip:+12025550123@203.0.113.17:5060;transport=udp>
    P-Asserted-Identity: "WIRELESS CALLER" <sip:+12025550123@carrier.example;user=phone>
    P-Charging-Vector: icid-value=c41b071e9d2;icid-generated-at=203.0.113.17;orig-ioi=carrier.example
    Privacy: none
    Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, PRACK, UPDATE, INFO, NOTIFY, REFER
    Supported: replaces, timer
    Session-Expires: 1800;refresher=uac
    Min-SE: 90
    User-Agent: Carrier border 4.2
    Accept: application/sdp
    Content-Type: application/sdp
    Content-Length: 144

    v=0
    o=border 4711 4711 IN IP4 203.0.113.17
    s=-
    c=IN IP4 203.0.113.18
    t=0 0
    m=audio 30412 RTP/AVP 8 0
    a=rtpmap:8 PCMA/8000
    a=ptime:20

    """.replacing("\n", with: "\r\n").utf8)

/// The response to a BYE, a typical message of a call.
let response = Array(
    """
    SIP/2.0 200 OK
    Via: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bK7c1e5b20aa41
    Via: SIP/2.0/UDP 203.0.113.17:5060;branch=z9hG4bK-4711-1-7;rport=5060
    From: "WIRELESS CALLER" <sip:+12025550123@carrier.example;user=phone>;tag=4711c1
    To: <sip:+12025550142@office.example;user=phone>;tag=815p1
    Call-ID: 1-4711@203.0.113.17
    CSeq: 2 BYE
    User-Agent: Office 22.1
    Content-Length: 0


    """.replacing("\n", with: "\r\n").utf8)

/// Finding the header fields of a message, and writing one with its changes.
func messageBenchmarks() {
    for (name, bytes) in [("INVITE", invite), ("response", response)] {
        Benchmark("index: \(name) of \(bytes.count) bytes") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(try SIPMessage.index(bytes)) }
        }
    }

    // A brand in From and P-Asserted-Identity, Call-Info, Via and Record-Route; texts of usual length.
    let name = Array("\"Harbour Insurance 4711\" ".utf8)
    let line = Array("Call-Info: <https://logos.example/brands/04711/icon.png>;purpose=icon\r\n".utf8)
    Benchmark("splice: six changes to the INVITE") { benchmark in
        let message = try SIPMessage.index(invite)
        guard let from = message.first(.from)?.value.lowerBound, let via = message.first(.via)?.start,
            let asserted = message.first(.pAssertedIdentity)?.value.lowerBound,
            let hops = message.first(.maxForwards)?.value
        else { return benchmark.error("the INVITE lacks a header field") }
        for _ in benchmark.scaledIterations {
            var splices = Splices()
            splices.replace(from..<from + 17) { $0 += name }
            splices.replace(asserted..<asserted + 17) { $0 += name }
            splices.insert(at: via) { $0 += line }
            splices.insert(at: via) { $0 += line }
            splices.replace(hops) { $0 += "68".utf8 }
            splices.insert(at: message.bodyStart - 2) { $0 += line }
            blackHole(splices.applied(to: message.bytes))
        }
    }
}
