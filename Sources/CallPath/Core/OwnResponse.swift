// SPDX-License-Identifier: Apache-2.0

import Primitives
import SIPCore

/// Responses of the gateway itself, for which it keeps no state (RFC 3261 §16.11, §8.2.7).
enum OwnResponse {
    /// The rejection of a request.
    static func message(to arrival: Arrival, _ refusal: FailureResponse, secret: Secret) -> OutgoingMessage {
        message(to: arrival, status: refusal.status, phrase: refusal.phrase, field: refusal.field, secret: secret)
    }

    static func message(
        to arrival: Arrival, status: Int, phrase: StaticString, field: ResponseField? = nil, secret: Secret
    ) -> OutgoingMessage {
        let tag = tag(for: arrival.message, secret: secret)
        return message(to: arrival, status: status, phrase: phrase, field: field, tag: tag)
    }

    /// A response with a tag that `tag(for:secret:)` gave.
    static func message(
        to arrival: Arrival, status: Int, phrase: StaticString, field: ResponseField? = nil, tag: UInt64
    ) -> OutgoingMessage {
        let (request, flow) = (arrival.message, arrival.flow)
        let bytes = LocalMessages.response(
            to: request, status: status, phrase: phrase, toTag: tag, field: field, source: flow.source)
        var destination = flow.returnAddress
        // RFC 3261 §18.2.2: the topmost Via decides; without a Via the response goes to the sender.
        if let via = request.topVia?.value {
            // For a datagram the transport that its Via claims does not matter.
            let transport = flow.connection == 0 ? .udp : via.transport(in: request) ?? .tcp
            destination = ResponseForwarding.destination(ofResponsesTo: via, from: flow.source, by: transport)
        }
        return OutgoingMessage(
            bytes: bytes, destination: destination, socket: flow.socket, connection: flow.connection)
    }

    /// The To tag of the gateway's own responses: the same for every retransmission (RFC 3261 §8.2.6.2, §8.2.7).
    static func tag(for request: SIPMessage, secret: Secret) -> UInt64 {
        var hash = secret.hash(for: .ownTag)
        if let callID = request.first(.callID) { hash.combine(callID.value, of: request) }
        if let fromTag = request.fromTag { hash.combine(fromTag, of: request) }
        hash.combine(UInt64(request.sequence?.number ?? 0))
        return hash.finish()
    }

    /// True for the ACK of such a response, which ends at the gateway (RFC 3261 §8.2.7).
    static func isAcknowledged(by ack: SIPMessage, secret: Secret) -> Bool {
        guard let tag = ack.toTag, ack[tag].prefix(2).equals("hd"), let mark = Hexadecimal.read(ack[tag].dropFirst(2))
        else { return false }
        return mark == self.tag(for: ack, secret: secret)
            || secret.previous.map { isAcknowledged(by: ack, secret: $0) } ?? false
    }
}
