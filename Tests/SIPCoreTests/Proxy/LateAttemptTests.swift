// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// A call that goes from target to target, and targets that respond after their turn.
@Suite("Late responses of earlier targets, RFC 3261 §9.1, §16.7, §17.1.1.3")
struct LateAttemptTests {
    private static let secret = Secret(key0: 1, key1: 2)
    private static let sockets = ReaddressingTests.sockets
    private static let targets: [PeerAddress] = (0x14...0x16).map { PeerAddress(ipv4: 0xc000_0200 | $0, port: 5060) }

    /// A call at its third target.
    private struct Run {
        let table: ProxyTransactions<PassingUser>
        let user: PassingUser
        let transaction: ProxyTransaction<Void>
        let now = Moment(milliseconds: 1_000_000, wallMicroseconds: 0)
        /// The INVITEs in the order of their attempts.
        let invites: [SIPMessage]

        init() throws {
            table = ProxyTransactions(timers: .standard, capacity: 4, now: now)
            user = PassingUser(table)
            let sent = try ReaddressingTests.Forwarded(
                from: 0, by: 0, [("Route", "Route: <sip:next.example;lr>"), ("Subject", "Subject: a")])
            transaction = ProxyTransaction<Void>(
                branch: sent.branch, request: sent.received, flow: Flow(source: ProxyRun.source, socket: 0),
                payload: RouteCookie.Payload(mark: 0), ownerState: (), originalFrom: [])
            table.open(transaction, at: now)
            table.forward(
                transaction, as: sent.message.bytes, to: NextHop(address: targets[0], socket: 0), at: now)
            for (target, socket) in [(targets[1], 1), (targets[2], 2)] {
                let next = NextHop(address: target, socket: socket, isReliable: socket == 2)
                let isSent = table.retry(
                    transaction, at: next, sockets: sockets, secret: secret, patience: nil, at: now)
                try #require(isSent)
            }
            invites = try table.outgoing.map { try SIPMessage.index($0.bytes) }.filter { $0.method == .invite }
            table.outgoing = []
        }

        /// A response to an attempt; the target fills in what it saw of the sender, as RFC 3581 §4 asks.
        func response(_ status: Int, to attempt: Int) throws -> SIPMessage {
            let via = try #require(invites[attempt].topVia).value
            let noted = invites[attempt].text(via.extent).replacing(
                ";rport", with: ";received=192.0.2.10;rport=5060")
            return try WireMessage.message([
                "SIP/2.0 \(status) Reason", "Via: \(noted)", "Via: SIP/2.0/UDP 198.51.100.7:5060",
                "From: \"Trunk\" <sip:+49891234567@carrier.example>;tag=1928301774",
                "To: <sip:+4930987654@192.0.2.10>;tag=late\(attempt)", "Call-ID: a84b4c76e66710@198.51.100.7",
                "CSeq: 314159 INVITE",
            ])
        }

        func receive(_ status: Int, from attempt: Int) throws {
            table.receive(
                try response(status, to: attempt), in: transaction, attempt: UInt8(attempt),
                from: Flow(source: targets[attempt], socket: attempt), isForCancel: false, at: now)
        }

        func sent() throws -> [(message: SIPMessage, destination: PeerAddress, socket: Int)] {
            defer { table.outgoing = [] }
            return try table.outgoing.map { (try SIPMessage.index($0.bytes), $0.destination, $0.socket) }
        }
    }

    @Test func `each attempt is a client transaction of one call, §16.6 step 8`() throws {
        let run = try Run()
        #expect(run.invites.count == 3)
        #expect(
            Set(run.invites.compactMap { invite in invite.topVia?.value.branch.map { invite.text($0) } }).count == 3)
        for name in [HeaderName.callID, .cseq, .from, .to, .route] {
            #expect(Set(run.invites.map { invite in invite.first(name).map { invite.text($0.value) } }).count == 1)
        }
    }

    @Test(arguments: [0, 1])
    func `a late failure is acknowledged as its own INVITE demands, §17.1.1.3`(attempt: Int) throws {
        let run = try Run()
        try run.receive(486, from: attempt)
        let sent = try run.sent()
        let ack = try #require(sent.first)
        #expect(sent.count == 1 && ack.destination == Self.targets[attempt] && ack.socket == attempt)
        try Self.expectHop(ack.message, "ACK", of: run.invites[attempt])
        #expect(ack.message.toTag.map(ack.message.text) == "late\(attempt)", "the To of the response")
        #expect(run.user.delivered == [] && run.transaction.isPending)
    }

    @Test(arguments: [0, 1])
    func `ringing of a target that was left is cancelled as its own INVITE demands, §9.1`(attempt: Int) throws {
        let run = try Run()
        try run.receive(180, from: attempt)
        let sent = try run.sent()
        let cancel = try #require(sent.first)
        #expect(sent.count == 1 && cancel.destination == Self.targets[attempt] && cancel.socket == attempt)
        try Self.expectHop(cancel.message, "CANCEL", of: run.invites[attempt])
        #expect(cancel.message.toTag == nil, "the To of the request")
        #expect(run.user.delivered == [] && run.transaction.isPending)
    }

    @Test func `a 2xx of each target goes up, and the present one is cancelled once, §16.7 steps 5 and 10`() throws {
        let run = try Run()
        run.table.receive(
            try run.response(180, to: 2), in: run.transaction, attempt: 2, isForCancel: false, at: run.now)
        _ = try run.sent()
        for attempt in [0, 1, 0] { try run.receive(200, from: attempt) }
        let sent = try run.sent()
        #expect(sent.count { $0.message.method == .cancel } == 1)
        let cancel = try #require(sent.first { $0.message.method == .cancel })
        #expect(cancel.destination == Self.targets[2])
        try Self.expectHop(cancel.message, "CANCEL", of: run.invites[2])
        #expect(run.user.delivered == [180, 200, 200, 200])
        let answered = sent.filter { $0.message.status == 200 }
        #expect(answered.map { $0.message.toTag.map($0.message.text) } == ["late0", "late1", "late0"])
        #expect(answered.allSatisfy { $0.destination == ProxyRun.source })
    }

    @Test func `a 100 of a target that was left changes nothing, §16.7 step 5`() throws {
        let run = try Run()
        try run.receive(100, from: 0)
        #expect(try run.sent().isEmpty)
        #expect(run.user.delivered == [])
    }

    /// What an ACK of a failure and a CANCEL take from their INVITE: §9.1 and §17.1.1.3 list the same fields.
    private static func expectHop(_ message: SIPMessage, _ method: String, of invite: SIPMessage) throws {
        #expect(message.text(message.requestURI) == invite.text(invite.requestURI))
        let vias = message.headers.filter { $0.name == .via }
        #expect(vias.count == 1, "a single Via")
        let (top, sent) = (try #require(message.topVia).value, try #require(invite.topVia).value)
        #expect(message.text(top.extent) == invite.text(sent.extent), "equal to the topmost Via of the request")
        for name in [HeaderName.callID, .from, .route] {
            #expect(
                message.first(name).map { message.text($0.value) } == invite.first(name).map { invite.text($0.value) })
        }
        let sequence = try #require(message.sequence)
        #expect(sequence.number == invite.sequence?.number && message.text(sequence.method) == method)
        #expect(RequestValidity.refusal(of: message) == nil)
    }
}
