// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import SIPCore
import Testing

@testable import CallPath

@Suite("The tap of traces, beside the call path")
struct TraceTapTests {
    private let gateway: GatewayUnderTest

    init() throws { gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))]) }

    private func records() -> [TraceRecord] {
        var records: [TraceRecord] = []
        var record = TraceRecord()
        while gateway.shared.trace.take(into: &record) { records.append(record) }
        return records
    }

    private static func take(from ring: TraceRing) -> [UInt8]? {
        var record = TraceRecord()
        return ring.take(into: &record) ? record.bytes : nil
    }

    /// Hands a message in and takes the messages out as a worker does.
    private func receive(_ text: String, from source: PeerAddress = GatewayUnderTest.trunk) -> [OutgoingMessage] {
        let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
        gateway.gateway.receive(bytes.span, by: Flow(source: source, socket: 0), at: gateway.now)
        var sent: [OutgoingMessage] = []
        _ = gateway.gateway.exchangeOutgoing(for: &sent)
        return sent
    }

    @Test func `switched off it copies nothing`() {
        _ = receive(request("INVITE"))
        #expect(records().isEmpty)
    }

    @Test func `a call is copied in order: what came, the decision, what went out`() throws {
        gateway.shared.trace.start()
        let text = request("INVITE", extra: "P-Asserted-Identity: <sip:+61491570156@c>\n")
        let sent = receive(text)
        let records = records()
        #expect(records.map(\.kind) == [.received, .decided] + sent.map { _ in .sent })
        #expect(records[0].bytes == Array(text.replacing("\n", with: "\r\n").utf8))
        #expect(records[0].address == GatewayUnderTest.trunk)
        #expect(records[0].wallMicroseconds == gateway.now.wallMicroseconds)
        let topology = gateway.shared.settings.load().topology
        #expect(topology.tracedPeer(of: records[0]) == .init(name: "carrier", isTrunk: true))
        #expect(String(decoding: records[1].bytes, as: UTF8.self) == "story@carrier.example")
        #expect(String(decoding: records[1].brand, as: UTF8.self) == "Acme \"Bank\"")
        let decision = records[1].decision
        #expect(decision.reason == nil)
        #expect(decision.evidence.header == .pAssertedIdentity && decision.evidence.isTrusted)
        #expect(decision.caller == E164Number("+61491570156"))
        #expect(records.dropFirst(2).map(\.bytes) == sent.map(\.bytes))
        #expect(records.dropFirst(2).map(\.address) == sent.map(\.destination))
    }

    @Test func `a withheld number is in no decision`() {
        gateway.shared.trace.start()
        _ = receive(request("INVITE", extra: "Privacy: id\nP-Asserted-Identity: <sip:+61491570156@c>\n"))
        let decision = records().first { $0.kind == .decided }?.decision
        #expect(decision?.evidence.isWithheld == true && decision?.reason == .privacy)
        #expect(decision?.caller == nil && decision?.evidence.header == DecisionEvidence.Header.none)
    }

    @Test func `rejected and unreadable messages are copied as well`() {
        gateway.shared.trace.start()
        let sent = receive(request("INVITE"), from: GatewayUnderTest.stranger)
        _ = receive("noise\u{1}")
        let records = records()
        #expect(records.map(\.kind) == [.received, .sent, .received])
        #expect(gateway.shared.settings.load().topology.tracedPeer(of: records[0]) == nil)
        #expect(String(decoding: records[1].bytes.prefix(11), as: UTF8.self) == "SIP/2.0 403")
        #expect(records[1].bytes == sent.first?.bytes)
        #expect(records[2].bytes == Array("noise\u{1}".utf8))
    }

    @Test func `a message above 8 KiB is cut, and its length is kept`() {
        gateway.shared.trace.start()
        let body = String(repeating: "x", count: 9_000)
        _ = receive(request("INVITE", body: body))
        let record = records().first
        #expect(record?.bytes.count == 8192)
        #expect(record.map { $0.length > 9_000 } == true)
    }

    @Test func `a full ring drops and counts, and takes records again once it is read`() {
        let ring = TraceRing(capacity: 4)
        func append(_ number: UInt8) { ring.append(TraceRing.Head(), [number].span) }
        for number in 0..<6 as Range<UInt8> { append(number) }
        #expect(ring.dropped == 2)
        #expect(Self.take(from: ring) == [0])
        append(9)
        #expect(ring.dropped == 2)
        var rest: [[UInt8]] = []
        while let bytes = Self.take(from: ring) { rest.append(bytes) }
        #expect(rest == [[1], [2], [3], [9]])
        #expect(Self.take(from: ring) == nil)
    }

    @Test func `several writers and a reader lose nothing but what is counted`() async {
        let ring = TraceRing(capacity: 64)
        let (writers, each) = (4, 5_000)
        let taken = await withTaskGroup(of: [[UInt8]].self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for number in 0..<each {
                        let bytes: [UInt8] = [UInt8(writer), UInt8(number >> 8), UInt8(number & 255)]
                        ring.append(TraceRing.Head(), bytes.span)
                    }
                    return []
                }
            }
            group.addTask {
                var taken: [[UInt8]] = []
                while taken.count + Int(ring.dropped) < writers * each {
                    if let bytes = Self.take(from: ring) {
                        taken.append(bytes)
                    } else {
                        try? await Task.sleep(for: .microseconds(100))
                    }
                }
                return taken
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.count + Int(ring.dropped) == writers * each)
        #expect(Set(taken).count == taken.count, "no record comes twice")
        for writer in 0..<writers {
            let numbers = taken.filter { $0[0] == UInt8(writer) }.map { Int($0[1]) << 8 | Int($0[2]) }
            #expect(numbers == numbers.sorted(), "the records of one writer keep their order")
        }
    }

    @Test(arguments: [
        ("Privacy: id\n", true), ("P-Asserted-Identity: \"Anonymous\" <sip:+61491570156@c>\n", true),
        ("Remote-Party-ID: <sip:+61491570156@c>;privacy=full\n", true), ("Privacy: none\n", false), ("", false),
    ])
    func `a message that asks for privacy is recognised, whoever sends it`(extra: String, asks: Bool) throws {
        let text = request("INVITE", extra: extra).replacing("\n", with: "\r\n")
        let facts = try #require(TraceFacts(Array(text.utf8)))
        #expect(facts.asksForPrivacy == asks)
        #expect(facts.isInitial)
        #expect(facts.summary == "INVITE")
        #expect(facts.callers.contains(Array("+61491570156".utf8)))
        #expect(facts.called.contains(Array("100".utf8)))
    }

    @Test func `requests inside a dialog, CANCEL and ACK begin nothing`() throws {
        for text in [request("BYE", toTag: ";tag=p"), request("CANCEL"), request("ACK")] {
            #expect(TraceFacts(Array(text.replacing("\n", with: "\r\n").utf8))?.isInitial == false)
        }
    }
}
