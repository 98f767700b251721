// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@testable import CallPath

@Suite("ACKs of shed calls are known by their To tags")
struct RefusalTagsTests {
    @Test func `a recorded tag is taken once, another never`() {
        var tags = RefusalTags()
        #expect(tags.isEmpty)
        let before = tags.takes(7)
        tags.record(7, of: Branch(token: 1))
        // What an empty place holds is no tag; the transaction of a later attempt may respond with the same tag.
        let taken = [0, 8, 7, 7].map { (tag: UInt64) in tags.takes(tag) }
        #expect(!before)
        #expect(!tags.isEmpty)
        #expect(taken == [false, false, true, false])
    }

    @Test(
        arguments: [
            ("ACK sip:a@b SIP/2.0\r\nTo: <sip:a@b>;tag=hd00000000000000ff\r\n\r\n", 255),
            ("ACK sip:a@b;x=1 SIP/2.0\r\nFrom: <sip:c@d>;tag=hd\r\nTo: <sip:a@b>;tag=hdFFFFFFFFFFFFFFFF\r\n\r\n", .max),
            // A tag another element wrote, a tag of ours that is cut, and another method.
            ("ACK sip:a@b SIP/2.0\r\nTo: <sip:a@b>;tag=x00000000000000ff\r\n\r\n", nil),
            ("ACK sip:a@b SIP/2.0\r\nTo: <sip:a@b>;tag=hd00000000000000f", nil),
            ("ACK sip:a@b SIP/2.0\r\nTo: <sip:a@b>;tag=hd0000000000000-ff\r\n", nil),
            ("BYE sip:a@b SIP/2.0\r\nTo: <sip:a@b>;tag=hd00000000000000ff\r\n\r\n", nil),
            ("ACK ", nil), ("ACK ;;;;;;;", nil), ("", nil), (";tag=hd", nil),
        ] as [(String, UInt64?)])
    func `the tag of ours in an ACK is found without an index`(ack: String, tag: UInt64?) {
        #expect(LocalMessages.ownTag(ofAcknowledgement: Array(ack.utf8).span) == tag)
    }
}
