// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

/// Messages with a few bytes changed, as a hostile peer sends them: every reader must come to an end without a trap.
@Suite("Hostile bytes")
struct MutatedMessageTests {
    static let samples: [[UInt8]] = [
        WireMessage.bytes(WireMessage.invite),
        WireMessage.bytes(
            [
                "INVITE sip:+49;phone-context=+1@[2001:db8::1]:5060;lr;user=phone SIP/2.0",
                "v : SIP / 2.0 / UDP [2001:db8::2]:5060 ; branch=z9hG4bKhd0123456789abcdef ;rport=;received=::1,SIP/2.0/UDP b",
                "Route: <sip:192.0.2.1;lr;hd=0ib0123456789abcdef>,\"a, b\" <sip:c>", "Route: <sip:192.0.2.9>",
                "f: \"A \\\" <sip:x>\" <tel:+49301;verstat=TN-Validation-Passed>;tag=1", "t: sip:a@b;tag=2", "i: a",
                "CSeq: 1 INVITE", "Privacy: id;user", "Proxy-Require: a, b", "Max-Forwards: 7", "l: 2",
            ], body: "v=0"),
        WireMessage.bytes([
            "SIP/2.0 180 Ringing",
            "Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKhd0123456789abcdef;rport=1;received=1.2.3.4",
            "v:SIP/2.0/TCP [::1]", "From: <sip:a@b;x>;tag=1", "To: a <sips:b@c:5061?d=e&f=g>;tag=2", "Call-ID: x",
            "CSeq: 2 INVITE", "Reason: Q.850;cause=16;text=\"a;b\"", "Record-Route: <sip:192.0.2.1;lr;hd=7op0>",
        ]),
        WireMessage.bytes([
            "CANCEL tel:+49301;phone-context=b SIP/2.0", "Via: SIP/2.0/UDP a;branch=z9hG4bK",
            "Via: SIP/2.0/UDP b;received",
            "From: Folded\r\n <sip:a:pw@b>\r\n\t;tag=x", "To: \"\" <sip:>", "Call-ID: 1", "CSeq: 1 CANCEL",
        ]),
    ]

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `no mutation of a message breaks a reader`(seed: UInt64) {
        var random = RepeatableRandom(seed: seed)
        var indexed = 0
        for round in 0..<2500 {
            var bytes = Self.samples[round % Self.samples.count]
            for _ in 0...(random.next() % 6) { Self.mutate(&bytes, &random) }
            if let message = try? SIPMessage.index(bytes) {
                indexed += 1
                read(message)
            }
        }
        #expect(indexed > 250)
    }

    @Test func `every cut of a message is refused or read`() {
        for sample in Self.samples {
            for count in 0...sample.count {
                if let message = try? SIPMessage.index(Array(sample[..<count])) { read(message) }
            }
        }
        #expect(Self.samples.allSatisfy { (try? SIPMessage.index($0)) != nil })
    }

    @Test(arguments: [
        "Via: SIP/2.0/UDP a;branch=1", "Route: <sip:192.0.2.1;lr>", "Via: ", "Route: ", "To: ", "From: \"",
        "Proxy-Require: ",
        "P-Asserted-Identity: <sip:",
    ])
    func `a datagram full of separators is read to its end`(start: String) throws {
        // Asserts that reading ends: no trap, and no loop that outlasts the time limit of the test run.
        for filler in [
            ",", ";", "\"", "<", ">", ", <sip:192.0.2.1;lr>", ",SIP/2.0/UDP a", ";a=b", "\\", "@", ":", "\r\n ",
        ] {
            var lines = WireMessage.invite
            let line = start + String(repeating: filler, count: 15_000 / filler.utf8.count)
            lines.insert(contentsOf: [line, line, line], at: 1)
            if let message = try? WireMessage.message(lines) { read(message) }
        }
        let message = try WireMessage.message(WireMessage.invite)
        read(message)
    }

    static func mutate(_ bytes: inout [UInt8], _ random: inout RepeatableRandom) {
        guard !bytes.isEmpty else { return }
        let position = Int(random.next() % UInt64(bytes.count))
        let telling = Array("\r\n\t \0\"\\<>;,:@=/?[]&%0\u{ff}".utf8)
        switch random.next() % 6 {
        case 0: bytes[position] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes[position] = telling[Int(random.next() % UInt64(telling.count))]
        case 2: bytes.insert(telling[Int(random.next() % UInt64(telling.count))], at: position)
        case 3: bytes.remove(at: position)
        case 4:
            let end = min(bytes.count, position + Int(random.next() % 40))
            bytes.removeSubrange(position..<end)
        default:
            let end = min(bytes.count, position + Int(random.next() % 40))
            bytes.insert(contentsOf: bytes[position..<end], at: Int(random.next() % UInt64(bytes.count)))
        }
    }

    /// Asks everything that can be asked of a message, and makes every edit that can be made.
    private func read(_ message: SIPMessage) {
        let secret = Secret(key0: 1, key1: 2)
        let source = PeerAddress(ipv4: 0xc633_6407, port: 40_000)
        let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_0201, port: 5060))
        var splices = Splices()
        for field in message.headers {
            for value in HeaderValues(message.bytes, field.value).prefix(50) {
                let extent = NameAddressExtent.scan(message.bytes, value)
                _ = HeaderParameters.find("tag", in: message.bytes, extent.parameters)
                if let address = NameAddress(message.bytes, value) { _ = address.uri.userParameter("verstat") }
            }
        }
        _ = RequestValidity.refusal(of: message)
        _ = (message.isInDialog, message.sequence, ViaValue.second(of: message))
        _ = RouteSet(of: message, sockets: [socket], secret: secret, into: &splices) { _ in true }
        if let via = message.topVia {
            let branch = Branch(of: message, via: via.value, sender: 1, secret: secret)
            let marks = HopMarks(branch: branch, of: message, secret: secret)
            RequestForwarding.addVia(socket, marks, before: via.field, into: &splices)
            RequestForwarding.markSource(source, in: message, via: via.value, into: &splices)
            _ = ResponseForwarding.destination(of: via.value, in: message)
            _ = via.value.branch.flatMap { Branch(message[$0]) }
            var back = Splices()
            ResponseForwarding.removeTopVia(of: message, into: &back)
            ResponseForwarding.restoreFrom(Array("<sip:a@b>;tag=1".utf8), in: message, into: &back)
            ResponseForwarding.hideUnavailability(in: message, into: &back)
            _ = back.applied(to: message.bytes)
        }
        RequestForwarding.countHop(message, into: &splices)
        _ = splices.applied(to: message.bytes)
        _ = LocalMessages.response(to: message, status: 400, phrase: "Bad", toTag: 1, source: source)
        _ = LocalMessages.acknowledgement(of: message, for: message)
        _ = LocalMessages.cancel(of: message, reasonsFrom: message)
    }
}
