// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

/// An owner that forwards every response unchanged, and sends 408 for a silent target and 500 for an unreachable one.
final class PassingUser: TransactionUser {
    let table: ProxyTransactions<PassingUser>
    var delivered: [Int] = []
    var timeouts = 0
    var unreachable = 0

    init(_ table: ProxyTransactions<PassingUser>) {
        self.table = table
        table.user = self
    }

    func deliver(_ response: SIPMessage, to transaction: ProxyTransaction<Void>, at now: Moment) {
        delivered.append(response.status ?? 0)
        table.respond(response.status ?? 0, response.bytes, in: transaction, at: now)
    }

    func rings(_ transaction: ProxyTransaction<Void>) -> Bool { false }

    func targetTimedOut(_ transaction: ProxyTransaction<Void>, at now: Moment) {
        timeouts += 1
        respond(408, to: transaction, at: now)
    }

    private func respond(_ status: Int, to transaction: ProxyTransaction<Void>, at now: Moment) {
        guard let request = transaction.pendingRequest else { return }
        let bytes = LocalMessages.response(
            to: request, status: status, phrase: "No Response", toTag: 1, source: transaction.flow.source)
        table.respond(status, bytes, in: transaction, at: now)
    }

    func targetUnreachable(_ transaction: ProxyTransaction<Void>, at now: Moment) {
        unreachable += 1
        respond(500, to: transaction, at: now)
    }
}

/// One table, one owner and one request on its way, with a clock that the test turns.
struct ProxyRun {
    static let source = PeerAddress(ipv4: 0xc633_6407, port: 5060)
    static let target = PeerAddress(ipv4: 0xc000_0263, port: 5060)
    let table: ProxyTransactions<PassingUser>
    let user: PassingUser
    let request: SIPMessage
    let transaction: ProxyTransaction<Void>
    var now = Moment(milliseconds: 1_000_000, wallMicroseconds: 0)

    /// Opens and forwards a request, and forgets what that sent unless asked to keep it.
    ///
    /// - Parameter isReliable: true for streams on both sides.
    init(
        _ method: String = "INVITE", more: [(name: String, line: String?)] = [], keepsStart: Bool = false,
        isReliable: Bool = false
    ) throws {
        table = ProxyTransactions(timers: .standard, capacity: 2, now: now)
        user = PassingUser(table)
        let changes: [(name: String, line: String?)] = [
            ("INVITE", "\(method) sip:+4930987654@192.0.2.10 SIP/2.0"), ("CSeq", "CSeq: 1 \(method)"),
        ]
        request = try WireMessage.message(WireMessage.invite(changes + more))
        let via = try #require(request.topVia)
        let branch = Branch(of: request, via: via.value, sender: 1, secret: Secret(key0: 1, key1: 2))
        transaction = ProxyTransaction<Void>(
            branch: branch, request: request, flow: Flow(source: Self.source, socket: 0),
            transport: isReliable ? .tcp : .udp, payload: RouteCookie.Payload(mark: 0), ownerState: (),
            originalFrom: [])
        table.open(transaction, at: now)
        let target = NextHop(address: Self.target, socket: 1, isReliable: isReliable)
        table.forward(transaction, as: request.bytes, to: target, at: now)
        if !keepsStart { table.outgoing = [] }
    }

    /// A response of the target, in the transaction's own words.
    func response(_ status: Int, for method: String = "INVITE") throws -> SIPMessage {
        try WireMessage.message([
            "SIP/2.0 \(status) Reason", "Via: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKx",
            "To: <sip:+4930987654@192.0.2.10>;tag=314", "CSeq: 1 \(method)",
        ])
    }

    /// Lets the target respond; returns the datagrams that follow.
    func respond(_ status: Int, forCancel: Bool = false) throws -> [String] {
        let method = forCancel ? "CANCEL" : "INVITE"
        table.receive(try response(status, for: method), in: transaction, isForCancel: forCancel, at: now)
        return sent()
    }

    /// What waits to be sent: first words of each datagram and whether it goes up or down.
    func sent() -> [String] {
        defer { table.outgoing = [] }
        return table.outgoing.map { datagram in
            let words = text(datagram.bytes).split(separator: " ")
            let isUp = datagram.destination == Self.source && datagram.socket == 0
            let isDown = datagram.destination == Self.target && datagram.socket == 1
            return "\(isUp ? "up" : isDown ? "down" : "astray") \(words[0] == "SIP/2.0" ? words[1] : words[0])"
        }
    }

    /// Turns the clock on, deadline by deadline; the datagrams that were sent meanwhile.
    mutating func wait(milliseconds: UInt64) -> [String] {
        let end = now.milliseconds + milliseconds
        while let deadline = table.nextDeadline, deadline <= end {
            now.milliseconds = max(now.milliseconds, deadline)
            table.fireTimers(at: now)
        }
        now.milliseconds = end
        return sent()
    }

    /// Turns the clock until no timer runs.
    mutating func waitForEnd() {
        while table.nextDeadline != nil { _ = wait(milliseconds: 10_000) }
    }
}

@Suite("Proxy transactions, RFC 3261 §16 and §17, RFC 6026")
struct ProxyTransactionsTests {
    @Test func `an INVITE gets 100 and is forwarded`() throws {
        let run = try ProxyRun(keepsStart: true)
        #expect(run.sent() == ["down INVITE", "up 100"])  // §16.6 step 10, §17.2.1
        #expect(run.table[run.transaction.branch] === run.transaction)
        #expect(run.transaction.isPending)
    }

    @Test func `a request other than INVITE gets no response of the proxy`() throws {
        let run = try ProxyRun("BYE", keepsStart: true)
        #expect(run.sent() == ["down BYE"])  // RFC 4320 §4.1
    }

    @Test func `a retransmission gets the last response again and goes no further`() throws {
        var run = try ProxyRun()
        #expect(!run.table.absorb(run.request, in: run.transaction, at: run.now))
        #expect(run.sent() == ["up 100"])
        #expect(try run.respond(180) == ["up 180"])
        #expect(!run.table.absorb(run.request, in: run.transaction, at: run.now))
        #expect(run.sent() == ["up 180"])
        run.waitForEnd()
    }

    @Test func `a call is answered, and forgotten when its timers ran out`() throws {
        var run = try ProxyRun()
        #expect(try run.respond(100) == [])  // §16.7 step 5: a 100 ends here
        #expect(try run.respond(180) == ["up 180"])
        #expect(try run.respond(200) == ["up 200"])
        #expect(try run.respond(200) == ["up 200"])  // RFC 6026 §7.2: every 2xx goes up
        #expect(run.user.delivered == [180, 200, 200])
        #expect(!run.transaction.isPending)
        #expect(run.transaction.pendingRequest == nil)
        #expect(run.wait(milliseconds: 31_999) == [])
        #expect(run.table.count == 1)
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    @Test func `the ACK of a 2xx is the owner's to forward`() throws {
        let run = try ProxyRun()
        _ = try run.respond(200)
        let ack = try WireMessage.message(
            WireMessage.invite([("INVITE", "ACK sip:a@b SIP/2.0"), ("CSeq", "CSeq: 1 ACK")]))
        #expect(run.table.absorb(ack, in: run.transaction, at: run.now))
        #expect(run.sent() == [])
    }

    @Test func `a refusal is acknowledged on its hop and repeated until the caller's ACK`() throws {
        var run = try ProxyRun()
        #expect(try run.respond(486) == ["down ACK", "up 486"])  // §17.1.1.3
        #expect(try run.respond(486) == ["down ACK"])
        #expect(run.wait(milliseconds: 1_500) == ["up 486", "up 486"])  // §17.2.1: timer G at 0.5 s and 1.5 s
        let ack = try WireMessage.message(
            WireMessage.invite([("INVITE", "ACK sip:a@b SIP/2.0"), ("CSeq", "CSeq: 1 ACK")]))
        #expect(!run.table.absorb(ack, in: run.transaction, at: run.now))
        #expect(run.wait(milliseconds: 20_000) == [])
        run.waitForEnd()
        #expect(run.table.count == 0)
        #expect(run.user.delivered == [486])
    }

    @Test func `a CANCEL before any response waits for one`() throws {
        var run = try ProxyRun()
        let cancel = try WireMessage.message(["CANCEL sip:a@b SIP/2.0", "Reason: SIP;cause=200"])
        run.table.cancel(run.transaction, with: cancel, at: run.now)
        #expect(run.sent() == [])  // §9.1
        #expect(try run.respond(100) == ["down CANCEL"])
        #expect(try run.respond(180) == ["up 180"])
        #expect(run.wait(milliseconds: 500) == ["down CANCEL"])  // timer E of its own transaction
        #expect(try run.respond(200, forCancel: true) == [])  // §16.10: the response ends here
        #expect(try run.respond(487) == ["down ACK", "up 487"])
        run.waitForEnd()
        #expect(run.table.count == 0)
        #expect(run.user.delivered == [180, 487])
    }

    @Test func `a CANCEL carries the caller's reason and goes out once`() throws {
        let run = try ProxyRun()
        _ = try run.respond(180)
        let cancel = try WireMessage.message(["CANCEL sip:a@b SIP/2.0", "Reason: SIP;cause=200"])
        run.table.cancel(run.transaction, with: cancel, at: run.now)
        #expect(run.table.outgoing.count == 1)
        #expect(run.table.outgoing.contains { text($0.bytes).contains("\r\nReason: SIP;cause=200\r\n") })
        _ = run.sent()
        run.table.cancel(run.transaction, with: nil, at: run.now)
        #expect(run.sent() == [])
    }

    @Test func `a request at the limits is cancelled and acknowledged all the same`() throws {
        // The gateway's own Via and Record-Route take it past what is accepted from outside.
        let many = (0..<200).map { (name: "X-\($0):", line: "X-\($0): a" as String?) }
        let lines = WireMessage.invite(many)
        let run = try ProxyRun()
        run.table.forward(
            run.transaction, as: WireMessage.bytes(lines), to: NextHop(address: ProxyRun.target, socket: 1), at: run.now
        )
        _ = run.sent()
        _ = try run.respond(180)
        run.table.cancel(run.transaction, with: nil, at: run.now)
        #expect(run.sent() == ["down CANCEL"])
        #expect(try run.respond(487) == ["down ACK", "up 487"])
    }

    @Test func `a silent target is tried for 32 seconds, then the owner gets a timeout`() throws {
        var run = try ProxyRun()
        // §17.1.1.2: timer A at 0.5, 1.5, 3.5, 7.5, 15.5 and 31.5 s, timer B at 32 s.
        #expect(run.wait(milliseconds: 31_999) == Array(repeating: "down INVITE", count: 6))
        #expect(run.wait(milliseconds: 1) == ["up 408"])
        #expect(run.user.timeouts == 1)
        run.waitForEnd()
        #expect(run.table.count == 0)
        #expect(run.user.timeouts == 1)
    }

    @Test func `a target that rings for three minutes is cancelled`() throws {
        var run = try ProxyRun()
        _ = try run.respond(180)
        #expect(run.wait(milliseconds: 180_999) == [])
        #expect(run.wait(milliseconds: 1) == ["down CANCEL"])  // §16.8: timer C
        #expect(run.wait(milliseconds: 32_000).last == "up 408")  // §9.1: and no final response after that
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    @Test func `another request is retried, timed out in silence and forgotten`() throws {
        var run = try ProxyRun("INFO")
        let sent = run.wait(milliseconds: 32_000)
        #expect(sent.filter { $0 == "down INFO" }.count == 10)  // §17.1.2.2: timer E up to T2, timer F
        #expect(sent.filter { $0.hasPrefix("up") } == ["up 100"])  // RFC 4320 §4.1 and §4.2: a late 100, never a 408
        #expect(run.user.timeouts == 1)
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    @Test func `another request gets a response, and its retransmission gets it again`() throws {
        var run = try ProxyRun("BYE")
        #expect(try run.respond(200) == ["up 200"])
        #expect(!run.table.absorb(run.request, in: run.transaction, at: run.now))
        #expect(run.sent() == ["up 200"])
        run.waitForEnd()
        #expect(run.table.count == 0)
    }

    @Test func `responses go to the port the caller listens on`() throws {
        // RFC 3261 §18.2.2: without rport, to the source address and the port of the Via.
        let run = try ProxyRun(
            more: [("Via", "Via: SIP/2.0/UDP 198.51.100.7:5099;branch=z9hG4bKa")], keepsStart: true)
        #expect(run.table.outgoing.last?.destination == ProxyRun.source.with(port: 5099))
    }

    @Test func `a full table says so`() throws {
        let run = try ProxyRun()
        #expect(!run.table.isFull())
        let other = try WireMessage.message(WireMessage.invite([("Call-ID", "Call-ID: other")]))
        let via = try #require(other.topVia)
        let second = ProxyTransaction<Void>(
            branch: Branch(of: other, via: via.value, sender: 1, secret: Secret(key0: 1, key1: 2)), request: other,
            flow: Flow(source: ProxyRun.source, socket: 0), payload: run.transaction.payload, ownerState: (),
            originalFrom: [])
        run.table.open(second, at: run.now)
        #expect(run.table.isFull())
        #expect(run.table.count == 2)
    }

    @Test func `a table is full of large messages before it is full of transactions`() throws {
        let run = try ProxyRun(more: [("Subject", "Subject: " + String(repeating: "x", count: 7_000))])
        #expect(run.table.count == 1)
        #expect(run.table.heldBytes > 2 * 7_000, "the request as it came and as it went")
        #expect(run.table.isFull())
        #expect(!run.table.isFull(forDialogs: true))
        #expect(try run.respond(200) == ["up 200"])
        #expect(run.table.heldBytes < 1_000, "what waits for repeats needs no messages")
        #expect(!run.table.isFull())
    }

    @Test func `the lists of a message's header fields count too`() throws {
        let many = Array(repeating: ("Subject", "s:"), count: 100)
        let run = try ProxyRun(more: many)
        #expect(run.request.bytes.count < 3_000)
        #expect(run.table.heldBytes > run.request.bytes.count + 100 * MemoryLayout<SIPMessage.HeaderField>.stride)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `whatever happens, the table is empty in the end`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        var run = try ProxyRun(seed % 4 == 0 ? "INFO" : "INVITE")
        for _ in 0..<30 {
            switch random.next() % 5 {
            case 0: _ = run.wait(milliseconds: random.next() % 40_000)
            case 1: run.table.cancel(run.transaction, with: nil, at: run.now)
            case 2: _ = run.table.absorb(run.request, in: run.transaction, at: run.now)
            case 3: _ = try run.respond(200, forCancel: true)
            default: _ = try run.respond([100, 180, 183, 200, 302, 404, 487, 503][Int(random.next() % 8)])
            }
        }
        run.waitForEnd()
        #expect(run.table.count == 0)
        #expect(run.table.heldBytes == 0)
    }
}
