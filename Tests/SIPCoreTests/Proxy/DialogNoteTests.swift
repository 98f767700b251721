// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

/// The note in the gateway's Record-Route comes back in Route, from peers who may have changed it.
@Suite("Dialog note, RFC 3261 §16.6 step 4 and §16.4")
struct DialogNoteTests {
    static let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xc000_020a, port: 5060))
    static let secret = Secret(key0: 1, key1: 2)
    static let callID = "a84b4c76e66710@198.51.100.7"

    /// The URI of the Record-Route entry that a call with this note gets.
    static func entry(_ note: DialogNote, callID: String = callID, secret: Secret = secret) throws -> String {
        let message = try WireMessage.message(WireMessage.invite)
        let entry = RecordRoute(socket: socket, note: note, callID: Array(callID.utf8)[...], secret: secret)
        var splices = Splices()
        RequestForwarding.addRecordRoute(entry, before: message.headers[0], into: &splices)
        let forwarded = try SIPMessage.index(splices.applied(to: message.bytes))
        return forwarded.text(NameAddressExtent.scan(forwarded.bytes, forwarded.headers[0].value).uri)
    }

    /// What the gateway reads when that URI comes back in a Route.
    static func note(in uri: String, secret: Secret = secret) throws -> DialogNote? {
        let message = try WireMessage.message(WireMessage.invite([("Route", "Route: <\(uri)>")]))
        var splices = Splices()
        return RouteSet(of: message, sockets: [socket], secret: secret, into: &splices).note
    }

    @Test(arguments: [0, 7, 4095], [(true, true), (true, false), (false, true), (false, false)])
    func `a note comes back as it was`(trunk: Int, flags: (isInbound: Bool, isBranded: Bool)) throws {
        let note = DialogNote(trunk: trunk, isInbound: flags.isInbound, isBranded: flags.isBranded)
        #expect(try Self.note(in: Self.entry(note)) == note)
    }

    @Test(arguments: [(0 as UInt64, false), (61_491_570_156, false), (999_999_999_999_999, true)])
    func `a note tells whose name was written`(caller: UInt64, isAsserted: Bool) throws {
        let note = DialogNote(
            trunk: 7, isInbound: true, isBranded: true, isNamed: true, caller: caller, isAsserted: isAsserted)
        #expect(try Self.note(in: Self.entry(note)) == note)
    }

    @Test func `a note of another call or another gateway is none`() throws {
        let note = DialogNote(trunk: 7, isInbound: true, isBranded: true)
        #expect(try Self.note(in: Self.entry(note, callID: "other@198.51.100.7")) == nil)
        #expect(try Self.note(in: Self.entry(note, secret: Secret(key0: 1, key1: 3))) == nil)
    }

    private static let named = DialogNote(
        trunk: 7, isInbound: true, isBranded: true, isNamed: true, caller: 61_491_570_156)

    @Test(arguments: [
        ("hd=7ib", "hd=7ia"), ("hd=7ib0", "hd=7ib1"), ("hd=7ib0", "hd=7ib"), ("hd=7ib", "hd=7il"),
        ("hd=7ib", "hd=8ib"), ("hd=7ib", "hd=7ob"), ("hd=7ib", "hd=7ip"), ("hd=7ib", "hd=7xb"), ("hd=7ib", "hd=7ix"),
        ("hd=7ib", "hd="), ("hd=7ib", "hd=ib"), ("hd=7ib", "hd=-7ib"), ("hd=7ib", "hd=99999999999ib"),
        ("hd=7ib", "hd=7ib0"),
        ("hd=7ib", "dh=7ib"), ("hd=7ib", "hd;x=7ib"),
    ])
    func `a changed note is none`(original: String, changed: String) throws {
        let uri = try Self.entry(Self.named)
        let forged = uri.replacing(original, with: changed)
        #expect(forged != uri)
        #expect(try Self.note(in: forged) == nil)
    }

    @Test func `a changed seal is none`() throws {
        let uri = try Self.entry(DialogNote(trunk: 7, isInbound: true, isBranded: true))
        for position in 1...16 {
            var forged = Array(uri.utf8)
            let index = forged.count - position
            forged[index] = forged[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(try Self.note(in: text(forged)) == nil)
        }
    }
}
