// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("A datagram that came back as undeliverable, RFC 3261 §18.4")
struct ReturnedRequestTests {
    private let secret = Secret(key0: 3, key1: 4)
    private let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xC000_020A, port: 5060))

    private func token(_ text: String) -> DeliveryToken? {
        let bytes = Array(text.utf8)
        return ReturnedRequest.token(of: bytes.span, secret: secret)
    }

    @Test func `a probe is known by its sealed number`() throws {
        let bytes = ProbeRequest.bytes(
            number: 42, to: PeerAddress(ipv4: 0xC000_0214, port: 5060), from: socket, secret: secret)
        #expect(ReturnedRequest.token(of: bytes.span, secret: secret)?.probeNumber == 42)
        #expect(ReturnedRequest.token(of: bytes.span, secret: Secret(key0: 9, key1: 9))?.probeNumber == nil)
    }

    @Test func `a request of a transaction is known by branch and attempt`() {
        let first = token(
            "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd00000000000000ff;rport")
        #expect(first == DeliveryToken(branch: Branch(token: 255), attempt: 0) && first?.probeNumber == nil)
        let third = token(
            "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd00000000000000ff2;rport")
        #expect(third == DeliveryToken(branch: Branch(token: 255), attempt: 2))
    }

    @Test(arguments: [
        "", "INVITE s", "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;bra",
        "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKhd00",  // cut off
        "ACK sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKhd00000000000000ff",
        "CANCEL sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKhd00000000000000ff",
        "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKhd00000000000000ff",
        "BYE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP x;branch=z9hG4bK-of-a-peer",
    ]) func `everything else is nobody's`(text: String) {
        #expect(token(text) == nil)
    }
}
