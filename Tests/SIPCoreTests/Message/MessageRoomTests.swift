// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SIPCore

@Suite("Room for messages that end with their turn serves the next one")
struct MessageRoomTests {
    private static let invite =
        "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP c;branch=z9hG4bK1\r\nTo: <sip:a@b>\r\n\r\nbody"
    private static let ringing = "SIP/2.0 180 Ringing\r\nCall-ID: x\r\nTo: <sip:a@b>;tag=7\r\nContact: <sip:d>\r\n\r\n"
    private static let acknowledgement = "ACK sip:a@b SIP/2.0\r\nTo: <sip:a@b>;tag=7\r\n\r\n"
    private static let refused = "SIP/2.0 200 OK\r\nTo: a\r\nnothing more"
    private static let torn = "ACK sip:a@b SIP/2.0\r\nTo a\r\n\r\n"

    private static func same(_ one: SIPMessage, _ other: SIPMessage) -> Bool {
        one.bytes == other.bytes && one.headers == other.headers && one.startLine == other.startLine
            && one.bodyStart == other.bodyStart && one.toTag == other.toTag && one.topVia?.value == other.topVia?.value
    }

    @Test func `each message comes out as by itself, those that are kept too, whatever comes after them`() throws {
        let texts = [Self.invite, Self.ringing, Self.acknowledgement, Self.refused, Self.torn]
        for first in texts {
            for second in texts {
                for third in texts {
                    var room = MessageRoom()
                    var kept: [(SIPMessage, String)] = []
                    for text in [first, second, third, first] {
                        let bytes = Array(text.utf8)
                        let alone = try? SIPMessage.index(bytes)
                        let message = try? room.index(bytes.span, limits: SIPLimits())
                        #expect((message == nil) == (alone == nil))
                        if let message { kept.append((message, text)) }
                        if text == first { kept.removeAll { $0.1 == second } }
                    }
                    for (message, text) in kept { #expect(Self.same(message, try SIPMessage.index(Array(text.utf8)))) }
                }
            }
        }
    }

    @Test func `a message's room is used again once it has gone, and not before`() throws {
        var room = MessageRoom()
        func place(_ text: String, _ room: inout MessageRoom) throws -> (SIPMessage, UInt) {
            let message = try room.index(Array(text.utf8).span, limits: SIPLimits())
            return (message, message.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
        }
        let first = try place(Self.ringing, &room).1
        #expect(try place(Self.acknowledgement, &room).1 == first)
        let (kept, place1) = try place(Self.ringing, &room)
        let place2 = try place(Self.acknowledgement, &room).1
        #expect(place1 != place2)
        #expect(Self.same(kept, try SIPMessage.index(Array(Self.ringing.utf8))))
    }

    @Test func `a large answer leaves no large room behind for a small one that is kept`() throws {
        var room = MessageRoom()
        let large = Self.ringing + String(repeating: "x", count: 60_000)
        _ = try room.index(Array(large.utf8).span, limits: SIPLimits())
        let kept = try room.index(Array(Self.ringing.utf8).span, limits: SIPLimits())
        #expect(kept.bytes.capacity < 4096)
    }

    @Test func `a request with filler behind its body holds no more memory than its own bytes, RFC 3261 §18.3`() throws
    {
        var room = MessageRoom()
        let text = "OPTIONS sip:a@b SIP/2.0\r\nl: 0\r\n\r\n"
        let datagram = Array((text + String(repeating: "x", count: 60_000)).utf8)
        let message = try room.index(datagram.span, limits: SIPLimits())
        #expect(message.bytes == Array(text.utf8))
        #expect(message.bytes.capacity < 256)
        #expect(message.headers.capacity < 8)
    }

    @Test func `what begins like a response is one or none`() {
        #expect(throws: SIPIndexError.notSIP) {
            var room = MessageRoom()
            _ = try room.index(Array("SIP/x sip:a@b SIP/2.0\r\n\r\n".utf8).span, limits: SIPLimits())
        }
    }
}
