// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

/// A request through several proxies of this kind and its response back, as in the trapezoid of RFC 3261 §16.12.1.1.
@Suite("A chain of proxies, RFC 3261 §16.6 step 8, §16.7 step 3, §18.2")
struct ProxyChainTests {
    private static let secret = Secret(key0: 1, key1: 2)
    private static let proxies = (0..<4).map { number in
        LocalSocket(position: number, address: PeerAddress(ipv4: 0xc000_0210 + UInt32(number), port: 5060))
    }

    /// An INVITE with up to three Vias below the caller's, on lines and with separators as senders write them.
    private static func invite(_ random: inout RepeatableRandom) -> [String] {
        var vias = ["SIP/2.0/UDP 10.0.0.1:5062;branch=z9hG4bKcaller;rport"]
        for number in 0..<(random.next() % 3) {
            vias.append("SIP / 2.0 / UDP hop\(number).example;branch=z9hG4bK\(number);x=\"a,b\"")
        }
        var lines: [String] = []
        for via in vias {
            if lines.isEmpty || random.next() % 2 == 0 {
                lines.append(["Via: ", "v: ", "VIA :"][Int(random.next() % 3)] + via)
            } else {
                lines[lines.count - 1] += [",", " , ", ",\r\n\t"][Int(random.next() % 3)] + via
            }
        }
        return WireMessage.invite([("Via", lines.joined(separator: "\r\n")), ("Max-Forwards", "Max-Forwards: 70")])
    }

    private static func vias(_ message: SIPMessage) -> [String] {
        message.headers.filter { $0.name == .via }.flatMap { field in
            HeaderValues(message.bytes, field.value).map { message.text($0) }
        }
    }

    /// The request as a proxy sends it on.
    private static func forwarded(_ message: SIPMessage, by proxy: LocalSocket, from source: PeerAddress) throws
        -> SIPMessage
    {
        let via = try #require(message.topVia).value
        let branch = Branch(of: message, via: via, sender: 1, secret: secret)
        var splices = Splices()
        RequestForwarding.addVia(
            proxy, HopMarks(branch: branch, of: message, secret: secret), before: message.headers[0], into: &splices)
        RequestForwarding.markSource(source, in: message, via: via, into: &splices)
        RequestForwarding.countHop(message, into: &splices)
        return try SIPMessage.index(splices.applied(to: message.bytes))
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `the response takes the way of the request back, hop by hop`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let caller = PeerAddress(ipv4: 0xc633_6407, port: 40_000)
        var request = try WireMessage.message(Self.invite(&random))
        let original = Self.vias(request)
        var source = caller
        for (hop, proxy) in Self.proxies.enumerated() {
            request = try Self.forwarded(request, by: proxy, from: source)
            source = proxy.address
            #expect(request.text(try #require(request.first(.maxForwards)).value) == "\(69 - hop)")
            #expect(RequestValidity.refusal(of: request) == nil)
        }
        #expect(Self.vias(request).count == Self.proxies.count + original.count)
        // §8.2.6.2: the callee copies the Vias, each as one field or joined.
        var response = try WireMessage.message(
            ["SIP/2.0 200 OK"]
                + (seed % 2 == 0
                    ? Self.vias(request).map { "Via: \($0)" } : ["Via: " + Self.vias(request).joined(separator: ", ")])
                + ["From: a;tag=1", "To: b;tag=2", "Call-ID: c", "CSeq: 314159 INVITE"], body: "body")
        for (hop, proxy) in Self.proxies.enumerated().reversed() {
            let top = try #require(response.topVia)
            #expect(top.value.isOwn(in: response, sockets: [proxy]))
            #expect(!top.value.isOwn(in: response, sockets: Self.proxies.filter { $0 !== proxy }))
            let second = try #require(ViaValue.second(of: response))
            let expected = hop == 0 ? caller : Self.proxies[hop - 1].address
            #expect(ResponseForwarding.destination(of: second, in: response) == expected)
            var splices = Splices()
            ResponseForwarding.removeTopVia(of: response, into: &splices)
            response = try SIPMessage.index(splices.applied(to: response.bytes))
        }
        // The caller gets its Vias back, the topmost with its source (RFC 3581 §4), and everything else as it was sent.
        let returned = Self.vias(response)
        #expect(returned.first == "SIP/2.0/UDP 10.0.0.1:5062;branch=z9hG4bKcaller;rport=40000;received=198.51.100.7")
        #expect(Array(returned.dropFirst()) == Array(original.dropFirst()))
        #expect(text(response[response.bodyStart..<response.bytes.count]) == "body")
    }

    @Test func `a request ends at the proxy that finds no hop left, §16.3 step 3`() throws {
        var request = try WireMessage.message(WireMessage.invite([("Max-Forwards", "Max-Forwards: 2")]))
        for proxy in Self.proxies.prefix(2) {
            #expect(RequestValidity.refusal(of: request) == nil)
            request = try Self.forwarded(request, by: proxy, from: PeerAddress(ipv4: 0xc633_6407, port: 5060))
        }
        #expect(RequestValidity.refusal(of: request)?.status == 483)
    }

    @Test func `a proxy finds its own mark behind any number of others, RFC 5393 §4.2`() throws {
        let source = PeerAddress(ipv4: 0xc633_6407, port: 5060)
        var request = try WireMessage.message(WireMessage.invite)
        for proxy in Self.proxies { request = try Self.forwarded(request, by: proxy, from: source) }
        let mark = LoopMark(of: request, secret: Self.secret)
        for proxy in Self.proxies { #expect(mark.isPresent(in: request, sockets: [proxy])) }
        let other = LocalSocket(position: 9, address: PeerAddress(ipv4: 0xc000_02ff, port: 5060))
        #expect(!mark.isPresent(in: request, sockets: [other]))
    }
}
