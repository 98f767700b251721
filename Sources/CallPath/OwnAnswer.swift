// SPDX-License-Identifier: Apache-2.0

import Hashing
import SIPCore

/// Answers of the gateway itself, for which it keeps no state (RFC 3261 §16.11, §8.2.7).
enum OwnAnswer {
    /// The refusal of a request.
    static func message(to arrival: Arrival, _ refusal: Refusal, secret: Secret) -> OutgoingMessage {
        message(to: arrival, status: refusal.status, phrase: refusal.phrase, field: refusal.field, secret: secret)
    }

    static func message(
        to arrival: Arrival, status: Int, phrase: StaticString, field: AnswerField? = nil, secret: Secret
    ) -> OutgoingMessage {
        let tag = tag(for: arrival.message, secret: secret)
        return message(to: arrival, status: status, phrase: phrase, field: field, tag: tag)
    }

    /// An answer with a tag that `tag(for:secret:)` gave.
    static func message(
        to arrival: Arrival, status: Int, phrase: StaticString, field: AnswerField? = nil, tag: UInt64
    ) -> OutgoingMessage {
        let request = arrival.message
        let bytes = LocalMessages.response(
            to: request, status: status, phrase: phrase, toTag: tag, field: field, source: arrival.flow.source)
        let asked = request.bytes
        return message(bytes, answering: request.topVia?.value, in: asked.span, by: arrival.flow)
    }

    /// The refusal of a new call of which no more is known than a glance tells; with its To tag, it is the same as that of
    /// the message.
    static func message(
        to invite: InviteGlance, in bytes: Span<UInt8>, by flow: Flow, status: Int, phrase: StaticString, tag: UInt64
    ) -> OutgoingMessage {
        let answer = LocalMessages.response(
            to: invite, in: bytes, status: status, phrase: phrase, toTag: tag, source: flow.source)
        return message(answer, answering: invite.topVia, in: bytes, by: flow)
    }

    private static func message(
        _ answer: [UInt8], answering via: ViaValue?, in bytes: Span<UInt8>, by flow: Flow
    ) -> OutgoingMessage {
        var destination = flow.returnAddress
        // RFC 3261 §18.2.2: where the topmost Via asks for it; to the sender where there is no Via to ask.
        if let via {
            // What a Via claims to speak does not matter to a datagram.
            let transport = flow.connection == 0 ? .udp : via.transport(in: bytes) ?? .tcp
            destination = ResponseForwarding.destination(ofAnswersTo: via, from: flow.source, by: transport)
        }
        return OutgoingMessage(
            bytes: answer, destination: destination, socket: flow.socket, connection: flow.connection)
    }

    /// The To tag of the gateway's own answers: the same for every retransmission (RFC 3261 §8.2.6.2, §8.2.7).
    static func tag(for request: SIPMessage, secret: Secret) -> UInt64 {
        let bytes = request.bytes
        return tag(
            callID: request.first(.callID)?.value, fromTag: request.fromTag, sequence: request.sequence?.number ?? 0,
            in: bytes.span, secret: secret)
    }

    /// The same tag for an INVITE looked at in `bytes`.
    static func tag(for invite: InviteGlance, in bytes: Span<UInt8>, secret: Secret) -> UInt64 {
        tag(callID: invite.callID, fromTag: invite.fromTag, sequence: invite.sequence, in: bytes, secret: secret)
    }

    private static func tag(
        callID: Range<Int>?, fromTag: Range<Int>?, sequence: Int, in bytes: Span<UInt8>, secret: Secret
    ) -> UInt64 {
        var hash = secret.hash(for: .ownTag)
        if let callID { hash.combine(callID, of: bytes) }
        if let fromTag { hash.combine(fromTag, of: bytes) }
        hash.combine(UInt64(sequence))
        return hash.finish()
    }

    /// True for the ACK of such an answer, which ends here (RFC 3261 §8.2.7).
    static func isAcknowledged(by ack: SIPMessage, secret: Secret) -> Bool {
        guard let tag = ack.toTag, ack[tag].prefix(2).equals("hd"), let mark = Hexadecimal.read(ack[tag].dropFirst(2))
        else { return false }
        return mark == self.tag(for: ack, secret: secret)
    }
}
