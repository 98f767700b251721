// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import GatewayTesting
import Primitives
import SIPCore
import Synchronization
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("Traces of calls in the gateway", .timeLimit(.minutes(8)))
struct TraceServiceTests {
    private static let trunk = PeerAddress(ipv4: 0x7F55_0001, port: 5060)  // 127.85.0.1
    private static let pbx = PeerAddress(ipv4: 0x7F55_0002, port: 5060)  // 127.85.0.2
    private static let stranger = PeerAddress(ipv4: 0x7F55_0009, port: 5060)

    private final class Clock: Sendable {
        let milliseconds = Atomic<UInt64>(5_000)
        var now: Moment {
            let time = milliseconds.load(ordering: .relaxed)
            return Moment(milliseconds: time, wallMicroseconds: 1_800_000_000_000_000 + Int64(time) * 1000)
        }
    }

    private let gateway: GatewayElement
    private let shared: GatewayShared
    private let service: TraceService
    private let clock = Clock()

    init() throws {
        let folder = try GatewayFolder()
        let text = folder.sections.with(
            "listen",
            "[{name: sip, address: '\(folder.address):5060'}, "
                + "{name: tls, address: '\(folder.address):5061', transport: tcp}]")
        let settings = try SettingsFixture(folder, text)
        shared = try settings.shared()
        gateway = GatewayElement(shards: GatewayShards(shared: shared, count: 1, now: clock.now))
        service = TraceService(shared.trace, settings: settings.live.current, now: { [clock] in clock.now })
    }

    private static func invite(
        _ call: String = "call1", from: String = "<sip:0491570156@carrier.example>", to: String = "0255502000",
        extra: String = ""
    ) -> String {
        let branch = call.utf8.map { String($0, radix: 16) }.joined()
        return """
            INVITE sip:\(to)@127.85.0.2 SIP/2.0
            Via: SIP/2.0/UDP 127.85.0.1:5060;branch=z9hG4bK\(branch)
            Max-Forwards: 70
            From: \(from);tag=a
            To: <sip:\(to)@127.85.0.2>
            Call-ID: \(call)
            CSeq: 1 INVITE
            Contact: <sip:0491570156@127.85.0.1>
            \(extra)Content-Length: 0


            """
    }

    /// Hands a message in, sends what the gateway sends, and passes the copies on.
    private func receive(
        _ text: String, from source: PeerAddress = trunk, socket: Int = 0, connection: UInt64 = 0
    ) -> [OutgoingMessage] {
        let bytes = Array(text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8)
        gateway.receive(bytes.span, by: Flow(source: source, socket: socket, connection: connection), at: clock.now)
        var sent: [OutgoingMessage] = []
        _ = gateway.exchangeOutgoing(for: &sent)
        service.drain()
        return sent
    }

    /// The events that wait in a stream; the stream ends with it.
    private func events(_ stream: AsyncStream<TraceLine>) async -> [TraceLine] {
        service.stop()
        var lines: [TraceLine] = []
        for await line in stream {
            if case .alive = line.event { continue }
            lines.append(line)
        }
        return lines
    }

    private static func messages(_ lines: [TraceLine]) -> [TracedMessage] {
        lines.compactMap { if case .message(let message) = $0.event { message } else { nil } }
    }

    private static func queue(_ numbers: TraceOrder.Numbers) -> HEPQueue {
        HEPQueue(HEPPacket(captureID: 1), numbers) { _ in }
    }

    /// The packets that wait in an export; the gateway stops with it.
    private func packets(_ queue: HEPQueue) async -> [String] {
        service.stop()
        var packets: [String] = []
        for await batch in queue.batches {
            var start = 0
            for end in batch.ends {
                packets.append(String(decoding: batch.bytes[start..<end], as: UTF8.self))
                start = end
            }
        }
        return packets
    }

    /// Everything that an export of these events contains: JSON, HEP and pcap are made of it.
    private static func everything(_ lines: [TraceLine]) throws -> String {
        try lines.map { line in
            var text = String(decoding: try JSONEncoder().encode(line), as: UTF8.self)
            if case .message(let message) = line.event { text += String(decoding: message.bytes, as: UTF8.self) }
            return text
        }.joined()
    }

    @Test func `the tap is on while somebody reads, and both sides of a call arrive with its decision`() async throws {
        #expect(!shared.trace.isOn)
        let stream = try service.trace(TraceOrder())
        #expect(shared.trace.isOn)
        _ = receive(Self.invite())
        let lines = await events(stream)
        #expect(!shared.trace.isOn)
        let messages = Self.messages(lines)
        #expect(messages.count { $0.summary == "INVITE" } == 2)
        #expect(messages.map(\.peer).contains("carrier") && messages.map(\.peer).contains("office"))
        #expect(messages.first?.isReceived == true && messages.last?.isReceived == false)
        let decision = lines.compactMap {
            if case .decision(let text, let evidence) = $0.event { text + ": " + evidence } else { nil }
        }
        #expect(
            decision == [
                "no_match: caller +61******156 from From; trusted trunk, not verified; policy standard: satisfied; "
                    + "no brand has the number; gates not asked; nothing written"
            ])
        #expect(Set(lines.dropLast().map(\.callID)) == ["call1"])
    }

    @Test func `numbers are masked unless the order asks for them`() async throws {
        let masked = try service.trace(TraceOrder())
        var order = TraceOrder()
        order.numbers = .full
        let full = try service.trace(order)
        _ = receive(Self.invite())
        let (maskedText, fullText) = (
            try Self.everything(await events(masked)), try Self.everything(await events(full))
        )
        #expect(!maskedText.contains("491570156") && !maskedText.contains("255502000"))
        #expect(fullText.contains("0491570156@carrier.example") && fullText.contains("caller +61491570156"))
    }

    static let withheld = [
        Self.invite(extra: "Privacy: id\nP-Asserted-Identity: <sip:0491570156@carrier.example>\n"),
        Self.invite(from: "\"Anonymous\" <sip:0491570156@carrier.example>"),
        Self.invite(extra: "Remote-Party-ID: <sip:0491570156@c>;privacy=full;party=calling\n"),
        Self.invite("0491570156-abc@c", extra: "Privacy: user;id\n"),
        Self.invite(extra: "Privacy: id\nX-Number: +61491570156\nSubject: call from 0491570156\n"),
    ]

    @Test(arguments: withheld, [TraceOrder.Numbers.masked, .full])
    func `a withheld number appears in no event of its call`(invite: String, numbers: TraceOrder.Numbers) async throws {
        var order = TraceOrder()
        order.numbers = numbers
        let stream = try service.trace(order)
        let forwarded = receive(invite).first { $0.destination == Self.pbx }
        let text = String(decoding: try #require(forwarded).bytes, as: UTF8.self)
        // The response has the caller's From, and no Privacy.
        let copied = text.split(separator: "\r\n").filter { line in
            ["Via:", "From:", "Call-ID:", "CSeq:", "Record-Route:"].contains { line.hasPrefix($0) }
        }
        _ = receive(
            "SIP/2.0 180 Ringing\n" + copied.joined(separator: "\n")
                + "\nTo: <sip:1001@127.85.0.2>;tag=p\nContact: <sip:1001@127.85.0.2>\nContent-Length: 0\n\n",
            from: Self.pbx)
        let lines = await events(stream)
        #expect(Self.messages(lines).count >= 4)
        #expect(!(try Self.everything(lines)).contains("491570156"))
        #expect(!(try Self.everything(lines)).contains("NDkxNTcwMTU2"), "nor in Base64")
    }

    @Test(arguments: withheld, [TraceOrder.Numbers.masked, .full])
    func `a withheld number leaves by no packet`(invite: String, numbers: TraceOrder.Numbers) async throws {
        let queue = Self.queue(numbers)
        try service.export(to: queue)
        _ = receive(invite)
        let packets = await packets(queue)
        #expect(packets.count >= 2)
        #expect(!packets.joined().contains("491570156"))
    }

    @Test func `an export has the messages of a trace, masked as in the trace`() async throws {
        let (masked, full) = (Self.queue(.masked), Self.queue(.full))
        try service.export(to: masked)
        try service.export(to: full)
        let stream = try service.trace(TraceOrder())
        _ = receive(Self.invite())
        _ = receive("noise\u{1}")
        let messages = Self.messages(await events(stream))
        let (maskedPackets, fullPackets) = (await packets(masked), await packets(full))
        #expect(maskedPackets.count == messages.count && fullPackets.count == messages.count)
        for (packet, message) in zip(maskedPackets, messages) {
            #expect(packet.hasPrefix("HEP3") && packet.hasSuffix(String(decoding: message.bytes, as: UTF8.self)))
        }
        #expect(maskedPackets.first?.contains("call1") == true)
        #expect(fullPackets.joined().contains("0491570156@carrier.example"))
    }

    @Test func `an export of more messages than a trace has waiting loses none`() async throws {
        let queue = Self.queue(.masked)
        try service.export(to: queue)
        for number in 0..<300 { _ = receive(Self.invite("call\(number)")) }
        let packets = await packets(queue)
        #expect(packets.count > TraceService.waiting)
        #expect(service.dropped.ring == 0 && service.dropped.readers == 0)
        #expect((0..<300).allSatisfy { number in packets.contains { $0.contains("Call-ID: call\(number)\r\n") } })
    }

    @Test func `a number that its caller withholds is found by no order, one that is shown is`() async throws {
        var order = TraceOrder()
        order.number = "+61 491 570 156"
        order.numbers = .full
        let stream = try service.trace(order)
        for invite in Self.withheld { _ = receive(invite) }
        _ = receive(Self.invite("shown"))
        _ = receive(Self.invite("other", from: "<sip:0491570199@c>").replacing("0491570156", with: "0491570199"))
        let lines = await events(stream)
        #expect(Set(lines.dropLast().map(\.callID)) == ["shown"])
    }

    @Test func `a call that began before the trace is shown without its parties`() async throws {
        _ = receive(Self.invite())
        var order = TraceOrder()
        order.numbers = .full
        let stream = try service.trace(order)
        // A retransmission of a response, or a request inside the dialog: nobody knows if the INVITE asked for privacy.
        _ = receive(
            Self.invite().replacing("INVITE sip:", with: "BYE sip:").replacing("1 INVITE", with: "2 BYE")
                .replacing("To: <sip:0255502000@127.85.0.2>", with: "To: <sip:0255502000@127.85.0.2>;tag=p"))
        let lines = await events(stream)
        #expect(!Self.messages(lines).isEmpty)
        #expect(!(try Self.everything(lines)).contains("491570156"))
    }

    @Test func `an unknown peer cannot make a call readable`() async throws {
        var order = TraceOrder()
        order.numbers = .full
        let stream = try service.trace(order)
        _ = receive(Self.invite("call1"), from: Self.stranger)
        let lines = await events(stream)
        #expect(Self.messages(lines).first?.side == .unknown)
        #expect(Self.messages(lines).map(\.summary).contains("403 Forbidden"))
        #expect(!(try Self.everything(lines)).contains("491570156"))
    }

    @Test func `orders select by trunk and by any part of the Call-ID`() async throws {
        var byCall = TraceOrder()
        byCall.callID = "ll2"
        var byTrunk = TraceOrder()
        byTrunk.trunk = "carrier"
        let (calls, trunks) = (try service.trace(byCall), try service.trace(byTrunk))
        for call in ["call1", "call2", "call3"] { _ = receive(Self.invite(call)) }
        _ = receive(Self.invite("strange"), from: Self.stranger)
        #expect(Set(await events(calls).dropLast().map(\.callID)) == ["call2"])
        #expect(Set(await events(trunks).dropLast().map(\.callID)) == ["call1", "call2", "call3"])
        byTrunk.trunk = "carier"
        let failure = #expect(throws: TraceRefusal.self) { try service.trace(byTrunk) }
        #expect(failure != nil)
    }

    @Test func `messages of streams have their transport`() async throws {
        let stream = try service.trace(TraceOrder())
        _ = receive(Self.invite().replacing("/UDP", with: "/TCP"), socket: 1, connection: 7)
        let messages = Self.messages(await events(stream))
        #expect(messages.first?.transport == .tcp && messages.first?.destination.port == 5061)
        #expect(messages.first?.peer == "carrier")
    }

    @Test func `a hostile Call-ID is one line of JSON and reaches no other call`() async throws {
        let stream = try service.trace(TraceOrder())
        _ = receive(Self.invite("\u{1B}[2J\u{7}\"}{\u{202E}"))
        let lines = await events(stream)
        #expect(lines.count >= 2)
        for line in lines { #expect(!(try JSONEncoder().encode(line)).contains(10)) }
        var ladder = TraceLadder(.narrow)
        let text = lines.map { ladder.text(of: $0) }.joined()
        #expect(!text.unicodeScalars.contains { $0.value < 32 && $0.value != 10 || $0.value == 0x202E })
    }

    @Test func `a reader that is too slow loses events with a count`() async throws {
        let stream = try service.trace(TraceOrder())
        for number in 0..<300 { _ = receive(Self.invite("call\(number)")) }
        #expect(service.dropped.readers > 0)
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<TraceService.waiting { _ = await iterator.next() }
        _ = receive(Self.invite("last"))
        let line = await iterator.next()
        #expect(line?.lost == Int(service.dropped.readers))
        #expect(line?.callID == "last")
    }

    @Test func `as many traces run as are allowed, and each ends in time`() async throws {
        var order = TraceOrder()
        order.seconds = 60
        let streams = try (0..<TraceService.mostReaders).map { _ in try service.trace(order) }
        #expect(throws: TraceRefusal("4 traces run already; wait for the end of one")) { try service.trace(order) }
        // The export is none of them.
        let export = Self.queue(.masked)
        try service.export(to: export)
        clock.milliseconds.add(60_000, ordering: .relaxed)
        service.drain()
        for stream in streams {
            var last: TraceLine?
            for await line in stream { last = line }
            #expect(last?.event == .end("its time is over; see --for"))
        }
        #expect(shared.trace.isOn, "the export goes on")
        _ = try service.trace(order)
        _ = export
    }

    @Test func `the outcome of a call reaches the readers of the call`() async throws {
        let stream = try service.trace(TraceOrder())
        _ = receive(Self.invite())
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: .inbound, sipCallID: "call1", reason: .noMatch,
            inviteAt: 0)
        record.outcome = .missed
        record.status = 487
        service.ended([
            record,
            CallRecord(call: CallIdentifier(high: 1, low: 3), direction: .inbound, sipCallID: "other", inviteAt: 0),
        ])
        let lines = await events(stream)
        let outcomes = lines.compactMap { if case .outcome(let text) = $0.event { text } else { nil } }
        #expect(outcomes == ["MISSED, status 487, decision no_match"])
    }

    /// Records have a keyed hash of the Call-ID of a withheld caller.
    @Test func `all events of a withheld call have the name by which records list it`() async throws {
        let stream = try service.trace(TraceOrder())
        let callID = "0491570156-abc@c"
        _ = receive(
            Self.invite(callID, extra: "Privacy: id\nP-Asserted-Identity: <sip:0491570156@carrier.example>\n"))
        let name = try #require(WithheldCallID.names(of: callID, shared.settings.load().secret).first)
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: .inbound, sipCallID: name, reason: .privacy, inviteAt: 0)
        record.outcome = .missed
        service.ended([record])
        let lines = await events(stream)
        #expect(lines.contains { if case .outcome = $0.event { true } else { false } })
        #expect(lines.contains { if case .decision = $0.event { true } else { false } })
        #expect(Set(lines.dropLast().map(\.callID)) == [name])
        let messages = Self.messages(lines)
        #expect(messages.count >= 2)
        #expect(messages.allSatisfy { String(decoding: $0.bytes, as: UTF8.self).contains("Call-ID: \(name)\r\n") })
    }

    /// Nothing but the Call-ID of such a BYE has the number; some carriers write it in another form.
    @Test(arguments: ["61491570156-1732830000@sbc", "0491-570-156.7@sbc", "a.0061491570156@sbc"])
    func `a call that began before the trace loses the numbers in its Call-ID`(callID: String) async throws {
        let stream = try service.trace(TraceOrder())
        let queue = Self.queue(.full)
        try service.export(to: queue)
        _ = receive(
            Self.invite(callID, from: "<sip:account4711@carrier.example>").replacing("INVITE", with: "BYE")
                .replacing("To: <sip:0255502000@127.85.0.2>", with: "To: <sip:0255502000@127.85.0.2>;tag=p")
                .replacing("Contact: <sip:0491570156@127.85.0.1>\n", with: ""))
        let lines = await events(stream)
        let packets = await packets(queue)
        #expect(!Self.messages(lines).isEmpty && !packets.isEmpty)
        for text in [try Self.everything(lines)] + packets {
            #expect(!text.contains("570156") && !text.contains("570-156") && text.contains("@sbc"))
        }
    }
}
