// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Responses, ACKs and CANCELs that the proxy writes itself.
public enum LocalMessages {
    /// A response to a request, with the Via fields of the request and its source (RFC 3261 §8.2.6).
    ///
    /// - Parameters:
    ///   - toTag: put on To when it has none; nil for 100, which carries no tag of ours.
    ///   - field: one further header field.
    public static func response(
        to request: SIPMessage, status: Int, phrase: StaticString, toTag: UInt64?, field: ResponseField? = nil,
        source: PeerAddress
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(512)
        out.append("SIP/2.0 ")
        out.append(decimal: status)
        out.append(" ")
        out.append(phrase)
        appendVias(of: request, source: source, to: &out)
        appendField("\r\nFrom: ", request.first(.from), of: request, to: &out)
        appendField("\r\nTo: ", request.first(.to), of: request, to: &out)
        if let toTag, request.has(.to), request.toTag == nil {
            out.append(";tag=hd")
            out.append(hex: toTag)
        }
        appendField("\r\nCall-ID: ", request.first(.callID), of: request, to: &out)
        appendField("\r\nCSeq: ", request.first(.cseq), of: request, to: &out)
        // RFC 3261 §8.2.6.1: the sender measures the round trip to the next hop with it.
        if status == 100 { appendField("\r\nTimestamp: ", request.first(.timestamp), of: request, to: &out) }
        field?.append(to: &out)
        out.append("\r\nContent-Length: 0\r\n\r\n")
        return out
    }

    /// The number in a To tag of `response`, out of an ACK that is not indexed; nil for anything else.
    public static func ownTag(ofAcknowledgement datagram: Span<UInt8>) -> UInt64? {
        let (method, mark): (StaticString, StaticString) = ("ACK ", ";tag=hd")
        guard datagram.has(method, at: 0) else { return nil }
        var position = method.utf8CodeUnitCount
        while true {
            position = datagram.position(in: position..<datagram.count) { $0.marks(UInt8(ascii: ";")) }
            let digits = position + mark.utf8CodeUnitCount
            guard digits + 16 <= datagram.count else { return nil }
            if datagram.has(mark, at: position),
                let tag = Hexadecimal.read(datagram.extracting(digits..<(digits + 16)))
            {
                return tag
            }
            position += 1
        }
    }

    /// The ACK of a final response above 299, for the hop to the target (RFC 3261 §17.1.1.3).
    ///
    /// - Parameter via: the message whose topmost Via is used; a response to an earlier attempt brings its own.
    public static func acknowledgement(
        of invite: SIPMessage, for response: SIPMessage, via: SIPMessage? = nil
    ) -> [UInt8] {
        hop(of: invite, method: "ACK", to: response, reasons: nil, via: via ?? invite)
    }

    /// The CANCEL of a forwarded INVITE (RFC 3261 §9.1), with the caller's Reason (RFC 3326 §2).
    public static func cancel(
        of invite: SIPMessage, reasonsFrom received: SIPMessage?, via: SIPMessage? = nil
    ) -> [UInt8] {
        hop(of: invite, method: "CANCEL", to: invite, reasons: received, via: via ?? invite)
    }

    private static func hop(
        of invite: SIPMessage, method: StaticString, to toSource: SIPMessage, reasons: SIPMessage?, via: SIPMessage
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(640)
        out.append(method)
        out.append(" ")
        out.append(invite.requestURI, of: invite)
        out.append(" SIP/2.0")
        if let top = via.topVia {
            out.append("\r\nVia: ")
            appendSentVia(top.value, of: via, to: &out)
        }
        for field in invite.fields(.route) {
            appendField("\r\nRoute: ", field, of: invite, to: &out)
        }
        out.append("\r\nMax-Forwards: 70")
        appendField("\r\nFrom: ", invite.first(.from), of: invite, to: &out)
        appendField("\r\nTo: ", toSource.first(.to), of: toSource, to: &out)
        appendField("\r\nCall-ID: ", invite.first(.callID), of: invite, to: &out)
        out.append("\r\nCSeq: ")
        out.append(decimal: invite.sequence?.number ?? 0)
        out.append(" ")
        out.append(method)
        if let reasons {
            for field in reasons.fields(.reason) {
                appendField("\r\nReason: ", field, of: reasons, to: &out)
            }
        }
        out.append("\r\nContent-Length: 0\r\n\r\n")
        return out
    }

    /// The topmost Via as the gateway sent it: a response brings what its sender added (RFC 3261 §17.1.1.3, RFC 3581 §4).
    private static func appendSentVia(_ via: ViaValue, of message: SIPMessage, to out: inout [UInt8]) {
        var added: [Range<Int>] = []
        if let received = via.received {
            let start = message.bytes[..<received.lowerBound].lastIndex(of: UInt8(ascii: ";"))
            added.append((start ?? received.lowerBound)..<received.upperBound)
        }
        if let rport = via.rport, !rport.isEmpty,
            let equals = message.bytes[..<rport.lowerBound].lastIndex(of: UInt8(ascii: "="))
        {
            added.append(equals..<rport.upperBound)
        }
        var position = via.extent.lowerBound
        for range in added.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            out.append(position..<range.lowerBound, of: message)
            position = range.upperBound
        }
        out.append(position..<via.extent.upperBound, of: message)
    }

    /// The Via fields of a request, the topmost with received and rport filled in.
    private static func appendVias(of request: SIPMessage, source: PeerAddress, to out: inout [UInt8]) {
        guard let top = request.topVia else {
            appendField("\r\nVia: ", request.first(.via), of: request, to: &out)
            return
        }
        let bytes = request.bytes
        for field in request.fields(.via) {
            if field.start == top.field.start {
                appendTopVia(field.value, top.value, of: bytes.span, source: source, to: &out)
            } else {
                out.append("\r\nVia: ")
                out.append(field.value, of: request)
            }
        }
    }

    /// The topmost Via field, whose first value is `top`.
    private static func appendTopVia(
        _ field: Range<Int>, _ top: ViaValue, of bytes: Span<UInt8>, source: PeerAddress, to out: inout [UInt8]
    ) {
        out.append("\r\nVia: ")
        var position = field.lowerBound
        let received = ReceivedParameters(of: source, in: bytes, via: top)
        received.forEachPart { part in
            out.append(position..<part.range.lowerBound, of: bytes)
            received.append(part, of: bytes, to: &out)
            position = part.range.upperBound
        }
        out.append(position..<field.upperBound, of: bytes)
    }

    /// Begins a line, whose end comes with the next one.
    private static func appendField(
        _ start: StaticString, _ field: SIPMessage.HeaderField?, of message: SIPMessage, to out: inout [UInt8]
    ) {
        guard let field else { return }
        out.append(start)
        out.append(field.value, of: message)
    }
}
